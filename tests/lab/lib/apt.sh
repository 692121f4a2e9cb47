# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# Debian packages that are fetched but never installed.  They come through an
# apt of our own: its sources list and its state lie in the cache, the mirror
# is the one this machine's own configuration names, and the machine's sources
# stay as they are.  Sourced, never run.

APT_DIR=$CACHE/apt
APT_RELEASE=
APT_KEYRING=/usr/share/keyrings/debian-archive-keyring.gpg

# private_apt PROGRAM ARGS...: apt-get or apt-cache with our list and state.
private_apt()
{
	local program=$1
	shift
	"$program" \
		-o Dir::Etc::sourcelist="$APT_DIR/sources.list" \
		-o Dir::Etc::sourceparts=/dev/null \
		-o Dir::Etc::preferences=/dev/null \
		-o Dir::Etc::preferencesparts=/dev/null \
		-o Dir::State::lists="$APT_DIR/lists" \
		-o Dir::State::status=/dev/null \
		-o Dir::Cache="$APT_DIR/cache" \
		-o Acquire::Languages=none \
		-o Acquire::Retries=3 \
		-o APT::Sandbox::User=root \
		"$@"
}

# apt_site CODENAME: print the mirror from which this machine takes a suite.
apt_site()
{
	# shellcheck disable=SC2016 # these are apt's
	apt-get indextargets --format '$(RELEASE) $(SITE)' \
		'Created-By: Packages' |
		awk -v suite="$1" '$1 == suite { print $2; exit }'
}

# apt_use [RELEASE]: from here on, take packages from that release of Debian, its security and its
# backports; without a name, from what is used for the rest of the laboratory. Each has a
# state of its own, so that no version of the one is taken for one of the other.
apt_use()
{
	APT_RELEASE=${1:-}
	APT_DIR=$CACHE/apt${1:+-$1}
}

# apt_suites: print the kind, the suite and whether it is one of security, a line for each list.
apt_suites()
{
	case $APT_RELEASE in
	'')
		echo deb bookworm
		echo deb bookworm-backports
		echo deb-src trixie
		echo deb bookworm-security security
		echo deb-src trixie-security security
		;;
	# Its backports are no more.
	bullseye)
		echo deb bullseye
		echo deb bullseye-security security
		;;
	*)
		echo "deb $APT_RELEASE"
		echo "deb $APT_RELEASE-backports"
		echo "deb $APT_RELEASE-security security"
		;;
	esac
}

# apt_write_sources: our sources list, from the machine's own mirrors.
apt_write_sources()
{
	local main security by kind suite is_security
	if [ "$(id -u)" -eq 0 ] && { [ -z "$(apt_site bookworm)" ] ||
	   [ -z "$(apt_site bookworm-security)" ]; }; then
		# Without lists apt does not know its suites by name.
		run_logged "$CACHE/log/apt-update-host.log" apt-get update ||
			true
	fi
	main=$(apt_site bookworm)
	security=$(apt_site bookworm-security)
	[ -n "$main" ] ||
		die "the apt sources of this machine have no suite 'bookworm'" \
		    "add Debian 12 (bookworm) to /etc/apt/sources.list and run apt-get update"
	[ -r "$APT_KEYRING" ] ||
		die "$APT_KEYRING is missing" \
		    "apt-get install debian-archive-keyring"

	by="[signed-by=$APT_KEYRING]"
	mkdir -p "$APT_DIR/lists/partial" "$APT_DIR/cache/archives/partial"
	while read -r kind suite is_security; do
		if [ -z "$is_security" ]; then
			echo "$kind $by $main $suite main"
		elif [ -n "$security" ]; then
			echo "$kind $by $security $suite main"
		fi
	done < <(apt_suites) >"$APT_DIR/sources.list.new"
	mv -- "$APT_DIR/sources.list.new" "$APT_DIR/sources.list"
}

# apt_refresh: fetch the package lists, at most once in a run of setup.
apt_refresh()
{
	local suites
	case " ${APT_FRESH:-} " in *" $APT_DIR "*) return 0 ;; esac
	suites=$(apt_suites | awk '{ print $2 }' | xargs)
	say "package lists: fetching those of ${suites// /, }"
	mkdir -p "$CACHE/log"
	apt_write_sources
	run_logged "$CACHE/log/apt-update.log" private_apt apt-get update ||
		die "the package lists could not be fetched" \
		    "check the network and the mirror in /etc/apt, then run this again (log: $CACHE/log/apt-update.log)"
	APT_FRESH+=" $APT_DIR"
}

# apt_newest PACKAGE PREFIX: print the newest version of PACKAGE that begins
# with PREFIX, or nothing.
apt_newest()
{
	local version best=''
	while read -r version; do
		case $version in "$2"*) ;; *) continue ;; esac
		if [ -z "$best" ] ||
		   dpkg --compare-versions "$version" gt "$best"; then
			best=$version
		fi
	done < <(private_apt apt-cache madison "$1" | awk -F'|' \
		'$3 ~ / Packages$/ { gsub(/ /, "", $2); print $2 }')
	printf '%s\n' "$best"
}

# apt_field PACKAGE=VERSION FIELD: print one field of a package's record.
apt_field()
{
	private_apt apt-cache show "$1" |
		sed -n "s/^$2: //p" | head -n 1
}

# apt_unpack DIR PACKAGE=VERSION...: fetch packages and unpack them in DIR.
apt_unpack()
{
	local dir=$1 debs deb
	shift
	debs=$(scratch_dir debs)
	if ! (cd -- "$debs" &&
	      run_logged "$CACHE/log/apt-download.log" \
			private_apt apt-get download "$@"); then
		rm -rf -- "$debs"
		return 1
	fi
	mkdir -p "$dir"
	for deb in "$debs"/*.deb; do
		dpkg-deb -x "$deb" "$dir" || return 1
	done
	rm -rf -- "$debs"
}

# apt_closure PACKAGE...: print these packages and all that they depend on.
apt_closure()
{
	private_apt apt-get -s -o Debug::NoLocking=1 \
		--no-install-recommends install "$@" | awk '$1 == "Inst" { print $2 }'
}

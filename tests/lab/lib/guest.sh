# shellcheck shell=bash
# SPDX-License-Identifier: GPL-2.0-only
#
# What a run needs before it starts and after it ended: the check that the
# set-up was done, the cpio with this run's files, QEMU's command line, and
# the files that come back.  Uses the variables of tests/lab/run.  Sourced,
# never run.

# cpu_model NAME: print QEMU's -cpu argument.
#
# Without erms the kernel and glibc copy with other instructions than "rep
# movsb", which the translator executes byte by byte.  A CPU with fsrm but not
# erms, though, hangs Linux 6.1 at boot: the one implies the other.
cpu_model()
{
	case $1 in
	intel) echo 'Skylake-Client,pmu=on,-erms' ;;
	# The model number of a Yonah, whose PMU has version 1
	intel-v1) echo 'Skylake-Client,model=14,stepping=8,pmu=on,x-tcg-pmu-version=1,-erms' ;;
	intel-v3 | intel-v4 | intel-v5)
		echo "Skylake-Client,pmu=on,x-tcg-pmu-version=${1#intel-v},-erms" ;;
	intel-partial) echo 'Skylake-Client,pmu=on,x-tcg-pmu-partial=on,-erms' ;;
	intel-pt) echo 'Skylake-Client,level=0x15,pmu=on,intel-pt=on,-erms' ;;
	intel-pt-v4) echo 'Skylake-Client,level=0x15,pmu=on,intel-pt=on,x-tcg-pmu-version=4,-erms' ;;
	intel-bts) echo 'Skylake-Client,level=0x15,pmu=on,intel-pt=on,ds=on,dtes64=on,ds-cpl=on,invtsc=on,-erms' ;;
	intel-lbr) echo 'Skylake-Client,pmu=on,lbr-fmt=5,-erms' ;;
	intel-lbr-v4) echo 'Skylake-Client,level=0x15,pmu=on,lbr-fmt=5,x-tcg-pmu-version=4,intel-pt=on,ds=on,dtes64=on,ds-cpl=on,-erms' ;;
	# A Skylake's model number, without the registers that select what its events count
	intel-bare) other_model 78 3 3 ;;
	intel-stuck) echo 'Skylake-Client,pmu=on,x-tcg-pmu-breakable=on,-erms' ;;
	amd-stuck) echo 'EPYC-Milan,pmu=on,x-tcg-pmu-version=2,x-tcg-pmu-breakable=on,-erms,-fsrm' ;;
	amd) echo 'EPYC-Milan,pmu=on,-erms,-fsrm' ;;
	amd-v2) echo 'EPYC-Milan,pmu=on,x-tcg-pmu-version=2,-erms,-fsrm' ;;
	amd-partial) echo 'EPYC-Milan,pmu=on,x-tcg-pmu-partial=on,-erms,-fsrm' ;;
	amd-k7) echo 'Opteron_G1,pmu=on' ;;
	# The model number of an Alder Lake, which Linux knows to be hybrid
	hybrid) echo 'Skylake-Client,model=151,stepping=2,pmu=on,x-tcg-pmu-hybrid=1,-erms' ;;
	hybrid-own) echo 'Skylake-Client,model=151,stepping=2,pmu=on,x-tcg-pmu-hybrid=2,-erms' ;;
	hybrid-silent) echo 'Skylake-Client,model=151,stepping=2,pmu=on,x-tcg-pmu-hybrid=3,-erms' ;;
	# Their model numbers, by which Linux chooses the events and counters of the real ones
	nehalem) other_model 26 5 3 ;;
	sandybridge) other_model 42 7 3 ;;
	haswell) other_model 63 2 3 ;;
	broadwell) other_model 79 1 3 ;;
	broadwell-8) other_model 79 1 5 ;;
	skylake-8) other_model 85 4 5 ;;
	icelake) other_model 106 6 5 ;;
	sapphirerapids) other_model 143 8 5 ;;
	graniterapids) other_model 173 1 5 ;;
	silvermont) other_model 55 8 3 ;;
	gracemont) other_model 190 0 5 ;;
	sierraforest) other_model 175 3 5 ;;
	fam10h) echo 'Opteron_G3,pmu=on' ;;
	fam15h) other_amd 21 2 0 1 ;;
	zen1) other_amd 23 1 2 1 ;;
	zen2) other_amd 23 49 0 1 ;;
	zen4) other_amd 25 17 1 2 ;;
	zen5) other_amd 26 2 1 2 ;;
	none) echo 'Skylake-Client,pmu=off,-erms' ;;
	*) return 1 ;;
	esac
}

# other_model MODEL STEPPING VERSION: the same CPU with other numbers, and a PMU of that version,
# which with version 5 has eight general counters.
other_model()
{
	echo "Skylake-Client,model=$1,stepping=$2,pmu=on,x-tcg-pmu-version=$3,-erms"
}

# other_amd FAMILY MODEL STEPPING VERSION: AMD's, with core counters; with version 2 PerfMonV2.
other_amd()
{
	echo "EPYC-Milan,family=$1,model=$2,stepping=$3,pmu=on,x-tcg-pmu-version=$4,-erms,-fsrm"
}

# kernel_image: what QEMU boots.  Unpacked it starts sooner, but then through PVH,
# which no kernel with KASAN survives.
kernel_image()
{
	local name=vmlinux
	! is_debug_kernel "$KERNEL" || name=vmlinuz
	printf '%s\n' "$CACHE/kernels/$KERNEL/$name"
}

# check_lab: is everything there that this run uses?
check_lab()
{
	local add setup=tests/lab/setup
	case " ${LAB_MORE_KERNELS[*]} " in *" $KERNEL "*) setup+=" --kernel $KERNEL" ;; esac
	! is_debug_kernel "$KERNEL" || setup="make $KERNEL-kernel"
	QEMU=$(qemu_binary)
	{ [ -x "$QEMU" ] && [ -s "$(kernel_image)" ]; } ||
		die "the laboratory is not set up (no ${QEMU#"$CACHE"/} or no kernel $KERNEL in $CACHE)" \
		    "run $setup"
	image_ready "$KERNEL" ||
		die "the guest's base image is missing, or older than what goes into it" \
		    "run $setup"
	MODULE=${LAB_MODULE:-$TREE/build/$KERNEL/module/pmuctl.ko}
	[ "$LOAD_MODULE" = 0 ] || [ -s "$MODULE" ] ||
		die "there is no $MODULE to load" \
		    "run make modules KERNELS=$KERNEL, or give --no-module"
	for add in "${ADDS[@]}"; do
		[ -e "${add%%:*}" ] ||
			die "--add: there is no ${add%%:*}" "build it first"
	done
}

# quote WORD: print it as a word of shell.
quote()
{
	printf "'%s'" "${1//\'/\'\\\'\'}"
}

# stage_project ROOT: what has been built of the project.
stage_project()
{
	local root=$1 file
	mkdir -p "$root/pmuctl/bin" "$root/pmuctl/lib" "$root/pmuctl/tests" \
		"$root/usr/lib/x86_64-linux-gnu"
	# Its debug information is most of it, and would be read with each insmod.
	[ ! -s "$MODULE" ] ||
		strip --strip-debug -o "$root/pmuctl/${MODULE##*/}" -- "$MODULE"
	[ ! -x "$TREE/build/tools/pmuctl" ] ||
		cp -- "$TREE/build/tools/pmuctl" "$root/pmuctl/bin/"
	for file in "$TREE"/build/lib/libpmuctl.so*; do
		[ -e "$file" ] || continue
		cp -P -- "$file" "$root/pmuctl/lib/"
		ln -s "/pmuctl/lib/${file##*/}" \
			"$root/usr/lib/x86_64-linux-gnu/${file##*/}"
	done
	# Programs with a screen want to know what terminal they are on.
	for file in linux screen vt100 xterm; do
		mkdir -p "$root/usr/lib/terminfo/${file:0:1}"
		cp -- "/lib/terminfo/${file:0:1}/$file" "$root/usr/lib/terminfo/${file:0:1}/"
	done
	for file in "$TREE"/build/tests/vm/*; do
		case $file in *.o|*.d|*'*') continue ;; esac
		cp -R -- "$file" "$root/pmuctl/tests/"
	done
}

# stage_adds ROOT
stage_adds()
{
	local root=$1 add from to
	for add in "${ADDS[@]}"; do
		from=${add%%:*} to=/add/$(basename -- "${add%%:*}")
		case $add in *:*) to=${add#*:} ;; esac
		case $to in */) to=$to$(basename -- "$from") ;; esac
		case $to in
		/*) ;;
		*) die "--add $add: the path in the guest must begin with /" ;;
		esac
		# /bin and the like are links in the guest.
		case $to in
		/bin/*|/sbin/*|/lib/*|/lib64/*) to=/usr$to ;;
		esac
		mkdir -p "$root$(dirname -- "$to")"
		cp -RH --preserve=mode -- "$from" "$root$to"
	done
}

# stage_libraries ROOT: the shared libraries that this run's programs need and
# the base image does not have.
stage_libraries()
{
	local root=$1 name path
	local -a files
	mapfile -d '' files < <(find "$root/pmuctl" "$root/add" "$root/usr" \
		"$root/tmp" "$root/root" "$root/home" -type f \
		\( -perm -u+x -o -name '*.so*' \) -print0 2>/dev/null)
	[ "${#files[@]}" -gt 0 ] || return 0
	while read -r name; do
		! grep -q "/$name\$" "$CACHE/guest/$KERNEL/inputs" || continue
		[ -z "$(find "$root" -name "$name" -print -quit)" ] || continue
		path=$(/sbin/ldconfig -p |
			awk -v n="$name" '$1 == n && /x86-64/ { p = $NF } END { print p }')
		[ -n "$path" ] || continue
		for path in "$path" $(ldd "$path" | awk '/=> \// { print $3 }'); do
			cp -L --preserve=mode -- "$path" \
				"$root/usr/lib/x86_64-linux-gnu/"
		done
	done < <({ readelf -d "${files[@]}" || true
		   # and what tools/late.c loads
		   grep -aohE 'lib(capstone|pfm|stdc[+]+)\.so\.[0-9]+' -- "$root"/pmuctl/bin/* |
			sed 's/.*/(NEEDED) [&]/'
		 } 2>/dev/null | sed -n 's/.*(NEEDED).*\[\(.*\)\]/\1/p' | sort -u)
}

# make_initrd: the base image followed by a cpio with this run's files.
make_initrd()
{
	local root=$WORK/root word get gets=''
	mkdir -p "$root/lab"
	# shellcheck disable=SC2153 # it is tests/lab/run's
	for get in "${GETS[@]}"; do
		word=${get%%:*}
		gets+=" $(quote "${word#/}")"
	done
	{
		printf 'LAB_LOAD_MODULE=%s\n' "$LOAD_MODULE"
		printf 'LAB_MODULE_ARGS=%s\n' "$(quote "$MODULE_ARGS")"
		printf 'LAB_GETS=%s\n' "$(quote "$gets")"
	} >"$root/lab/config"
	{
		printf 'exec'
		for word in "${COMMAND[@]}"; do
			printf ' %s' "$(quote "$word")"
		done
		echo
	} >"$root/lab/command"
	[ "$INTERACTIVE" = 0 ] || touch "$root/lab/shell"
	stage_project "$root"
	stage_adds "$root"
	stage_libraries "$root"
	make_cpio "$root" >"$WORK/run.cpio"
	cat "$CACHE/guest/$KERNEL/base.cpio" "$WORK/run.cpio" >"$WORK/initrd"
	rm -rf -- "$root" "$WORK/run.cpio"
}

# qemu_arguments: QEMU's command line, to QEMU_ARGS.
qemu_arguments()
{
	local kernel_args accel=tcg cpu
	cpu=$(cpu_model "$CPU")
	kernel_args='console=ttyS0 console_msg_format=syslog loglevel=8'
	kernel_args+=' panic=-1 nmi_watchdog=0 mitigations=off rdinit=/init'
	# Tests of its ciphers, and keys that nobody uses, are a quarter of the boot.
	kernel_args+=' cryptomgr.notests initcall_blacklist=crypto_kdf108_init,jent_mod_init'
	kernel_args+=',init_encrypted'
	# Its own key is used by a kernel that takes signed modules only, as those of virtio may be.
	[[ $APPEND == *module.sig_enforce* ]] || kernel_args+=',load_system_certificate_list'
	if [ "${LAB_ACCEL:-tcg}" = kvm ]; then
		accel=kvm cpu=host,pmu=on
	else
		# The TSC counts nanoseconds, the same on all CPUs (see
		# qemu/hooks.patch); on a busy host the kernel would measure
		# something else.  For the same reason it need not test whether
		# timer interrupts arrive.
		kernel_args+=' tsc=reliable tsc_early_khz=1000000 no_timer_check'
		[ "$SMP" = 1 ] || accel=tcg,thread=multi
	fi
	# With all its checks this kernel is slow, and slower on a busy host.
	! is_debug_kernel "$KERNEL" || kernel_args+=' watchdog_thresh=60'
	if [ "$ICOUNT" = 1 ]; then
		# The rate of the local APIC's timer would be measured by 100 ms
		# of polling, which takes seconds: do without that timer.
		kernel_args+=' nolapic_timer'
		kernel_args+=' norandmaps nokaslr'
	fi
	# shellcheck disable=SC2054 # these commas are QEMU's
	QEMU_ARGS=(
		# firmware, of the packages qemu-system-data and seabios
		"$QEMU" -L /usr/share/qemu -L /usr/share/seabios
		-pidfile "$WORK/qemu.pid"
		-nodefaults -no-user-config -no-reboot -display none
		-machine q35 -accel "$accel" -cpu "$cpu" -smp "$SMP,threads=$THREADS" -m "$MEM"
		-kernel "$(kernel_image)" -initrd "$WORK/initrd"
		-append "$kernel_args$APPEND"
		-chardev "file,id=log,path=$WORK/kernel.log" -serial chardev:log
		-chardev "file,id=out,path=$WORK/out"
		-chardev "file,id=err,path=$WORK/err"
		-chardev "file,id=files,path=$WORK/files.tar"
		-chardev "pipe,id=ctl,path=$WORK/ctl"
		-device virtio-serial-pci
		-device virtserialport,nr=1,chardev=out
		-device virtserialport,nr=2,chardev=err
		-device virtserialport,nr=3,chardev=files
		-device virtserialport,nr=4,chardev=ctl
	)
	if [ "$ICOUNT" = 1 ]; then
		# shellcheck disable=SC2054
		QEMU_ARGS+=(-icount shift=0,sleep=off -seed 1
			-rtc base=2026-01-01,clock=vm)
	fi
	if [ "$INTERACTIVE" = 1 ]; then
		# shellcheck disable=SC2054
		QEMU_ARGS+=(-chardev stdio,id=tty,signal=off
			-device virtconsole,nr=5,chardev=tty)
	fi
}

# fetch_gets: put what came back where --get wants it.
fetch_gets()
{
	local get from to
	[ "${#GETS[@]}" -gt 0 ] || return 0
	mkdir "$WORK/files"
	tar -C "$WORK/files" -x -f "$WORK/files.tar" --no-same-owner ||
		die "the files of --get did not arrive whole"
	for get in "${GETS[@]}"; do
		from=${get%%:*} to=${get#*:}
		mkdir -p "$(dirname -- "$to")"
		rm -rf -- "$to.lab-new"
		cp -R --preserve=mode,timestamps -- "$WORK/files$from" "$to.lab-new"
		rm -rf -- "$to"
		mv -T -- "$to.lab-new" "$to"
	done
}

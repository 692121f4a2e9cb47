// SPDX-License-Identifier: GPL-2.0-only
/*
 * "pmuctl exporter": counts until it is told to end, and tells how much that is whoever asks by
 * HTTP, as Prometheus does. The server is libevent's.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "stat.h"

/* Nobody else's in Prometheus' list of exporters; of this machine only, unless told otherwise */
#define LISTEN_DEFAULT	"127.0.0.1:10064"

/* Beside the options of stat, which are smaller */
#define OPTION_LISTEN	900

/**
 * struct exporter - what is exported, and where
 * @options: what is counted, as of "pmuctl stat".
 * @listen: address and port, as it was typed.
 * @counters: what has been counted since somebody last asked.
 * @totals: and since the start: a row for each of theirs.
 * @start: seconds of the clock at which counting began.
 * @asked: when somebody last asked.
 */
struct exporter {
	struct stat_options options;
	const char *listen;
	struct counters *counters;
	struct stat_row *totals;
	double start;
	double asked;
};

static const struct cli_option exporter_options[] = {
	{ OPTION_LISTEN, "listen", .argument = "ADDRESS:PORT",
	  .help = "answer there, or at this PORT; only who is on this machine can ask if no address "
		  "is given: " LISTEN_DEFAULT },
	{ 0 },
};

/* An option_apply */
static int apply(void *arg, int option)
{
	struct exporter *e = arg;

	if (option != OPTION_LISTEN)
		return stat_apply(&e->options, option);
	e->listen = optarg;
	return 0;
}

static const char *options_wrong(const struct stat_options *options)
{
	if (options->measure.argv)
		return "it starts no command: it counts what runs, until it is told to end";
	if (options->separator || options->json || options->metric_only || options->openmetrics)
		return "the output is always that of --openmetrics: without -x, -j and --metric-only";
	if (options->output || options->append || options->log_fd || options->quiet)
		return "what is counted is told who asks: without -o, --append, --log-fd and --quiet";
	if (options->interval || options->delay || options->timeout || options->repeat)
		return "it counts all the time: without -I, -D, --timeout and -r";
	if (options->nothing || options->control || options->pre || options->post || options->sync)
		return "it only counts: without -n, --control, --pre, --post and -S";
	return NULL;
}

static bool is_same_event(const struct pmuctl_events *events, size_t a, size_t b)
{
	return !memcmp(pmuctl_events_attr(events, a), pmuctl_events_attr(events, b),
		       sizeof(struct perf_event_attr));
}

/* What would have no value, or no name of its own. Returns 0 or an exit status. */
static int events_check(const struct pmuctl_events *events)
{
	for (size_t i = 0; events && i < pmuctl_events_count(events); i++) {
		const char *name = pmuctl_events_name(events, i);
		enum event_time time = event_time_find(name);

		if (time == EVENT_TIME_USER || time == EVENT_TIME_SYSTEM)
			return say_usage(&command_exporter,
					 "'%s' is of a command that has ended, and none is started: count task-clock:u or task-clock:k",
					 name);
		for (size_t j = 0; j < i; j++)
			if (!strcmp(pmuctl_events_name(events, j), name) &&
			    !is_same_event(events, i, j))
				return say_usage(&command_exporter,
						 "two different events have the name '%s': the counts of both would be one series",
						 name);
	}
	return 0;
}

#ifdef HAVE_LIBEVENT
#include <event2/buffer.h>
#include <event2/event.h>
#include <event2/http.h>
#include <event2/listener.h>
#include <event2/util.h>

/* Who has asked, and does not read */
#define CLIENT_TIMEOUT	10
/* What a question may have, in bytes */
#define HEADERS_MAX	8192
#define BODY_MAX	1024
/* Until there may be descriptors again, in seconds */
#define ACCEPT_AGAIN	1

#define CONTENT_TYPE	"application/openmetrics-text; version=1.0.0; charset=utf-8"

static const char page[] =
	"<!doctype html><title>pmuctl exporter</title><p><a href=\"/metrics\">metrics</a>\n";

/*
 * What has been counted since somebody last asked is an estimate if the event took turns, and that
 * is added up: an estimate of all the time might be less than the last one was.
 */
static void add_up(struct stat_row *total, const struct stat_row *row)
{
	struct stat_row sum = *row;

	sum.value += total->value;
	sum.enabled += total->enabled;
	sum.running += total->running;
	if (sum.running && sum.state == ROW_NOT_COUNTED)
		sum.state = ROW_COUNTED;
	*total = sum;
}

/* Returns 0 or a negative errno. */
static int take_counts(struct exporter *e, struct stat_result *result)
{
	const struct stat_row *rows;
	double now;
	int ret = counters_read(e->counters);

	if (ret < 0)
		return ret;
	now = stat_now();
	counters_put_times(e->counters, &(struct stat_times){
		.duration = (uint64_t)((now - e->asked) * 1e9) });
	counters_mark(e->counters);
	e->asked = now;
	rows = counters_rows(e->counters, &result->count);
	if (!e->totals)
		e->totals = calloc(result->count + 1, sizeof(*e->totals));
	if (!e->totals)
		return -ENOMEM;
	for (size_t i = 0; i < result->count; i++)
		add_up(&e->totals[i], &rows[i]);
	result->rows = e->totals;
	result->elapsed = now - e->start;
	result->duration = result->elapsed;
	return 0;
}

/* Returns 0 or a negative errno. */
static int print_counts(struct exporter *e, FILE *out)
{
	struct stat_result result = {
		.aggregate = e->options.aggregate,
		.metrics = e->options.metrics.count ? &e->options.metrics : NULL,
		.has_cgroups = e->options.measure.cgroups.count,
	};
	int ret = take_counts(e, &result);

	if (ret == 0)
		print_openmetrics(out, &result);
	return ret;
}

/* To HEAD all but the text, which libevent would send as well */
static void reply(struct evhttp_request *request, const char *type, const char *text, size_t size)
{
	struct evkeyvalq *headers = evhttp_request_get_output_headers(request);
	bool is_head = evhttp_request_get_command(request) == EVHTTP_REQ_HEAD;
	char length[32];

	snprintf(length, sizeof(length), "%zu", size);
	if (evhttp_add_header(headers, "Content-Type", type) ||
	    evhttp_add_header(headers, "Content-Length", length) ||
	    (!is_head && evbuffer_add(evhttp_request_get_output_buffer(request), text, size))) {
		evhttp_send_error(request, HTTP_INTERNAL, NULL);
		return;
	}
	evhttp_send_reply(request, HTTP_OK, NULL, NULL);
}

static void metrics_asked(struct evhttp_request *request, void *arg)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	int ret = out ? print_counts(arg, out) : -ENOMEM;

	if (out && fclose(out) != 0)
		ret = -ENOMEM;
	if (ret < 0)
		evhttp_send_error(request, HTTP_INTERNAL, NULL);
	else
		reply(request, CONTENT_TYPE, text, size);
	free(text);
}

static void page_asked(struct evhttp_request *request, void *arg)
{
	(void)arg;
	reply(request, "text/html; charset=utf-8", page, sizeof(page) - 1);
}

/* "PORT", "ADDRESS:PORT" or "[ADDRESS]:PORT"; false if it is none of these. */
static bool listen_parse(const char *text, char *address, size_t size, unsigned long *port)
{
	const char *colon = strrchr(text, ':'), *digits = colon ? colon + 1 : text;
	const char *begin = text;
	size_t length = colon ? (size_t)(colon - text) : 0;
	char *end;

	if (length >= 2 && begin[0] == '[' && begin[length - 1] == ']') {
		begin++;
		length -= 2;
	}
	snprintf(address, size, "%.*s", length ? (int)length : (int)strlen("127.0.0.1"),
		 length ? begin : "127.0.0.1");
	*port = strtoul(digits, &end, 10);
	return *digits >= '0' && *digits <= '9' && !*end && *port <= 65535 && length < size &&
	       !(colon && !length);
}

static void accept_again(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	evconnlistener_enable(arg);
}

/* Who waits is still there then. */
static void accept_failed(struct evconnlistener *listener, void *arg)
{
	const struct timeval later = { .tv_sec = ACCEPT_AGAIN };
	static bool is_told;

	(void)arg;
	if (!is_told)
		say_error("cannot accept a connection: %s", strerror(EVUTIL_SOCKET_ERROR()));
	is_told = true;
	evconnlistener_disable(listener);
	event_base_once(evconnlistener_get_base(listener), -1, EV_TIMEOUT, accept_again, listener,
			&later);
}

/* Begin to answer, and say where. Returns 0 or an exit status. */
static int server_bind(const struct exporter *e, struct evhttp *http)
{
	struct evhttp_bound_socket *bound;
	struct sockaddr_storage at = { 0 };
	socklen_t size = sizeof(at);
	unsigned long port;
	char address[64];

	if (!listen_parse(e->listen, address, sizeof(address), &port))
		return say_usage(&command_exporter,
				 "'%s' is no port to listen at: write PORT, ADDRESS:PORT or [ADDRESS]:PORT",
				 e->listen);
	errno = 0;
	bound = evhttp_bind_socket_with_handle(http, address, (uint16_t)port);
	if (!bound) {
		say_error("cannot listen at '%s': %s", e->listen,
			  errno ? strerror(errno) : "this is no address of this machine");
		return STATUS_FAILED;
	}
	evconnlistener_set_error_cb(evhttp_bound_socket_get_listener(bound), accept_failed);
	/* Port 0 is one that is free. */
	if (getsockname(evhttp_bound_socket_get_fd(bound), (struct sockaddr *)&at, &size) == 0)
		port = ntohs(at.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&at)->sin6_port :
							((struct sockaddr_in *)&at)->sin_port);
	fprintf(stderr, "pmuctl: metrics are at http://%s%s%s:%lu/metrics\n",
		strchr(address, ':') ? "[" : "", address, strchr(address, ':') ? "]" : "", port);
	return 0;
}

static void end(evutil_socket_t signal, short what, void *arg)
{
	(void)signal;
	(void)what;
	event_base_loopbreak(arg);
}

/* Returns an exit status. */
static int serve(struct exporter *e, struct event_base *base, struct evhttp *http)
{
	struct event *ends[] = {
		evsignal_new(base, SIGINT, end, base), evsignal_new(base, SIGTERM, end, base),
	};
	int status;

	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (ends[i])
			evsignal_add(ends[i], NULL);
	evhttp_set_timeout(http, CLIENT_TIMEOUT);
	evhttp_set_max_headers_size(http, HEADERS_MAX);
	evhttp_set_max_body_size(http, BODY_MAX);
	evhttp_set_allowed_methods(http, EVHTTP_REQ_GET | EVHTTP_REQ_HEAD);
	evhttp_set_cb(http, "/metrics", metrics_asked, e);
	evhttp_set_cb(http, "/", page_asked, e);
	status = server_bind(e, http);
	if (!status && event_base_dispatch(base) < 0)
		status = STATUS_FAILED;
	for (size_t i = 0; i < ARRAY_LEN(ends); i++)
		if (ends[i])
			event_free(ends[i]);
	return status;
}

/* All that needs rights has been done. */
static int answer(struct exporter *e)
{
	struct event_base *base = event_base_new();
	struct evhttp *http = base ? evhttp_new(base) : NULL;
	int status = STATUS_FAILED;

	if (http)
		status = serve(e, base, http);
	else
		say_error("%s", pmuctl_strerror(ENOMEM));
	if (http)
		evhttp_free(http);
	if (base)
		event_base_free(base);
	return status;
}

static int export(struct exporter *e, struct pmuctl_device *dev)
{
	int status = STATUS_FAILED, ret;

	if (counters_open(dev, &e->options, 0, &e->counters) < 0)
		return STATUS_FAILED;
	e->start = stat_now();
	e->asked = e->start;
	ret = capabilities_drop();
	if (ret < 0)
		say_error("cannot drop the capabilities: %s", strerror(-ret));
	else if (counters_enable(e->counters) == 0)
		status = answer(e);
	counters_close(e->counters);
	free(e->totals);
	return status;
}
#else
static int export(struct exporter *e, struct pmuctl_device *dev)
{
	(void)e;
	(void)dev;
	say_error("this pmuctl was built without libevent, which answers by HTTP: install libevent-dev and build it again");
	return STATUS_FAILED;
}
#endif

static int exporter_run(int argc, char **argv)
{
	struct exporter e = { .options.measure.command = &command_exporter,
			      .listen = LISTEN_DEFAULT };
	struct stat_options *options = &e.options;
	struct pmuctl_device *dev = NULL;
	int status = measure_parse(&options->measure, argc, argv, apply, &e);
	const char *wrong = options_wrong(options);

	if (!status && wrong)
		status = say_usage(&command_exporter, "%s", wrong);
	if (!options->measure.has_target)
		options->measure.kind = TARGET_ALL_CPUS;
	options->measure.has_target = true;
	if (!status)
		status = stat_prepare(options, &dev);
	if (!status)
		status = events_check(options->measure.events);
	/* Who asked may have gone. */
	pipe_ignore();
	if (!status)
		status = export(&e, dev);
	pmuctl_device_close(dev);
	stat_options_free(options);
	return status;
}

const struct command command_exporter = {
	.name = "exporter",
	.run = exporter_run,
	.summary = "count all the time, and tell Prometheus how much",
	.operands = "[-p PIDS | -t TIDS | -C CPUS | -a]",
	.about =
"Counts events of all CPUs, or of what is given, until Ctrl-C or SIGTERM, and answers who asks for "
"/metrics by HTTP with what has been counted since the start, in the format of Prometheus "
"(OpenMetrics).",
	.options = { exporter_options },
	.base = &command_stat,
	.notes =
"Which events, of whom and added up how: as of pmuctl stat, see 'pmuctl stat --help'. A series "
"begins anew with each start, as Prometheus expects of counters.",
};

// SPDX-License-Identifier: GPL-2.0
/*
 * Names of series, and the counters that they are made of.
 *
 * Names are stable, as those of the counters in debugfs are; nvmerdma(8) lists them: keep
 * the two alike. A counter that is new in a module and whose key begins as a family's does
 * is a series without a change here.
 */
#include "metrics/metrics.h"

#define FAMILY(n, t, k, h)	.name = "nvmerdma_" n, .type = (t), .key = (k), .help = (h)
#define GAUGE(n, k, h)		{ FAMILY(n, METRIC_GAUGE, k, h) }
#define COUNTER(n, k, h)	{ FAMILY(n, METRIC_COUNTER, k, h) }
#define COUNTER_BY(n, k, l, h)	{ FAMILY(n, METRIC_COUNTER, k, h), .label = (l) }
#define BYTES(n, k, h)		{ FAMILY(n "_bytes", METRIC_COUNTER, k, h), .unit = "bytes" }
#define SECONDS(n, k, h)	{ FAMILY(n "_seconds", METRIC_COUNTER, k, h), .unit = "seconds", \
				  .ns = true }
#define LATENCY(n, h)		{ FAMILY(n "_seconds", METRIC_HISTOGRAM, NULL, h), \
				  .unit = "seconds" }

static const struct metric_family modules[] = {
	GAUGE("module_loaded", "members", "1 if a module of this project is loaded."),
};

static const struct metric_family controllers[] = {
	GAUGE("controllers", "members", "Controllers of this host."),
	GAUGE("controllers_live", "live", "Controllers of this host that are live."),
	COUNTER("controller_reconnects", "reconnects",
		"Times that a controller has reconnected, after an error or a reset."),
};

static const struct metric_family controller_info[] = {
	GAUGE("controller_info", "members", "Address and RDMA device of a controller."),
};

static const struct metric_family controller_queues[] = {
	GAUGE("controller_queues", "members", "Queues of a controller."),
	COUNTER_BY("controller_commands", "sent_", "data",
		   "Commands sent, by the way of their data."),
	BYTES("controller_read", "bytes_read", "Data that read commands requested."),
	BYTES("controller_written", "bytes_written", "Data that write commands sent."),
	COUNTER("controller_failed_responses", "responses_with_error",
		"Responses with a status other than success."),
	COUNTER("controller_aborts", "aborts", "Abort commands sent for commands that timed out."),
	COUNTER_BY("controller_waits", "wait_", "reason", "Times that a command had to wait."),
	COUNTER_BY("controller_errors", "error_", "reason",
		   "Errors; flush alone is none, because the end of each connection flushes."),
	LATENCY("controller_latency", "Time from the post of a command to its response."),
};

static const struct metric_family hosts[] = {
	GAUGE("target_hosts", "members", "Hosts of this target that are connected, or were."),
	GAUGE("target_queues", "queues", "Queues of a host."),
	COUNTER("target_ended_queues", "queues_ended", "Queues of a host that have ended."),
	COUNTER_BY("target_commands", "commands_", "data",
		   "Commands that arrived, by the way of their data."),
	BYTES("target_read", "bytes_read", "Data that commands sent to the host."),
	BYTES("target_written", "bytes_written", "Data that commands got from the host."),
	COUNTER("target_failed_responses", "responses_with_error",
		"Responses with a status other than success."),
	COUNTER_BY("target_shortages", "short_of_", "resource",
		   "Times that a command took a slower way because of a shortage."),
	COUNTER_BY("target_waits", "wait_", "reason", "Commands that had to wait."),
	COUNTER_BY("target_errors", "error_", "reason",
		   "Errors; flush alone is none, because the end of each connection flushes."),
	LATENCY("target_latency",
		"Time from the arrival of a command to the post of its response."),
};

static const struct metric_family ports[] = {
	GAUGE("port_listening", "listening", "1 if the port listens."),
	GAUGE("port_queues", "queues", "Connections of a port."),
	COUNTER_BY("port_connections", "queues_", "event",
		   "Connections, by what happened to them."),
	COUNTER_BY("port_refused_connections", "refused_", "reason",
		   "Connections that were refused."),
	COUNTER_BY("port_errors", "error_", "reason", "Connections that failed."),
};

static const struct metric_family threads[] = {
	SECONDS("thread_cpu", "cpu_ns", "CPU time of a thread that polls."),
	SECONDS("thread_spin", "spun_ns", "Time for which a thread looked for commands in vain."),
	COUNTER("thread_rounds", "rounds", "Looks after which there was something to execute."),
	COUNTER("thread_sleeps", "sleeps", "Times that a thread slept."),
	COUNTER("thread_interrupts", "interrupts", "Interrupts of the queues of a thread."),
	COUNTER("thread_absences", "absences", "Times that a disk kept a thread waiting."),
};

static const struct metric_family devices[] = {
	COUNTER("device_retransmissions", "retries",
		"Packets that an RDMA device had to send again, for any of its users."),
};

#define FAMILIES(list)	{ list, NR(list) }

struct metric_families metric_families(enum metric_kind kind)
{
	static const struct metric_families of[NR_METRIC_KINDS] = {
		[METRIC_MODULES]		= FAMILIES(modules),
		[METRIC_CONTROLLERS]		= FAMILIES(controllers),
		[METRIC_CONTROLLER_INFO]	= FAMILIES(controller_info),
		[METRIC_CONTROLLER_QUEUES]	= FAMILIES(controller_queues),
		[METRIC_HOSTS]			= FAMILIES(hosts),
		[METRIC_PORTS]			= FAMILIES(ports),
		[METRIC_THREADS]		= FAMILIES(threads),
		[METRIC_DEVICES]		= FAMILIES(devices),
	};

	return of[kind];
}

// SPDX-License-Identifier: GPL-2.0
/* A JSON object for each interval, on one line; nvmerdma(8) says what its keys mean */
#include "stat/stat.h"

#include <math.h>
#include <stdio.h>

#include <json-c/json.h>

static struct json_object *text_of(const char *text)
{
	return text ? json_object_new_string(safe_words(text)) : NULL;
}

/* With three digits behind the point; null if there is no number */
static struct json_object *number_of(double value)
{
	return isnan(value) ? NULL : json_object_new_double_s(value, mem_fmt("%.3f", value));
}

static void put(struct json_object *object, const char *key, struct json_object *value)
{
	json_object_object_add(object, key, value);
}

static void put_u64(struct json_object *object, const char *key, uint64_t value)
{
	put(object, key, json_object_new_uint64(value));
}

static struct json_object *hist_of(const uint64_t hist[HIST_BUCKETS])
{
	struct json_object *array = json_object_new_array();
	size_t i;

	for (i = 0; i < HIST_BUCKETS; i++)
		json_object_array_add(array, json_object_new_uint64(hist[i]));
	return array;
}

static struct json_object *counters_of(const struct counters *counters)
{
	struct json_object *object = json_object_new_object();
	size_t i;

	for (i = 0; i < counters->nr; i++) {
		const struct counter *one = &counters->list[i];

		if (one->is_number)
			put_u64(object, one->key, one->value);
		else
			put(object, one->key, text_of(one->text));
	}
	if (counters->has_hist)
		put(object, "latency_log2_us", hist_of(counters->hist));
	return object;
}

/* What only rows of threads have */
static void put_thread(struct json_object *object, const struct stat_row *row)
{
	put(object, "cpu_percent", number_of(column_value(row, COL_CPU)));
	put(object, "spun_percent", number_of(column_value(row, COL_SPUN)));
	put(object, "rounds_per_second", number_of(column_value(row, COL_ROUNDS)));
	put(object, "sleeps_per_second", number_of(column_value(row, COL_SLEEPS)));
	put(object, "interrupts_per_second", number_of(column_value(row, COL_INTERRUPTS)));
	put(object, "absences_per_second", number_of(column_value(row, COL_ABSENCES)));
}

/* What all others have */
static void put_work(struct json_object *object, const struct stat_row *row)
{
	bool host = row->side == SIDE_HOST;

	put(object, "address", text_of(row->address));
	put(object, host ? "subsystem" : "host_nqn", text_of(row->nqn));
	put(object, "iops", number_of(column_value(row, COL_IOPS)));
	put(object, "read_bytes_per_second", number_of(column_value(row, COL_READ)));
	put(object, "written_bytes_per_second", number_of(column_value(row, COL_WRITE)));
	put(object, "p50_us", number_of(column_value(row, COL_P50)));
	put(object, "p99_us", number_of(column_value(row, COL_P99)));
	put(object, "latency_log2_us", hist_of(row->work.hist));
	put(object, "in_flight", row->in_flight_exact ?
	    json_object_new_uint64(row->in_flight) : NULL);
	put_u64(object, "in_flight_at_most", row->in_flight);
	put_u64(object, "sq_slots", row->slots);
	put_u64(object, "sq_slots_free", row->slots_free);
	put(object, "waits_per_second", number_of(column_value(row, COL_WAITS)));
	if (row->has_ends)
		put_u64(object, host ? "reconnects" : "queues_ended", row->ends);
	put_u64(object, "errors", row->errors);
	put(object, "retries_per_second", number_of(column_value(row, COL_RETRIES)));
	put(object, "retries", row->retries_counted ? json_object_new_uint64(row->retries) : NULL);
}

static struct json_object *row_of(const struct stat_row *row)
{
	struct json_object *object = json_object_new_object();

	put(object, "side", text_of(row->side == SIDE_HOST ? "host" : "target"));
	put(object, "by", text_of(by_name(row->by)));
	put(object, "name", text_of(row->name));
	put(object, "state", text_of(row->state));
	if (row->thread)
		put_thread(object, row);
	else
		put_work(object, row);
	put(object, "counters", counters_of(row->counters));
	return object;
}

const char *json_text(const struct sample *sample, const struct stat_rows *rows, enum stat_by by)
{
	struct json_object *object = json_object_new_object();
	struct json_object *array = json_object_new_array();
	const char *text;
	size_t i;

	put(object, "time", number_of(sample->time.tv_sec + sample->time.tv_nsec / 1e9));
	put(object, "seconds", number_of(sample->seconds));
	put(object, "by", text_of(by_name(by)));
	for (i = 0; i < rows->nr; i++)
		json_object_array_add(array, row_of(&rows->list[i]));
	put(object, "rows", array);
	text = json_object_to_json_string_ext(object, JSON_C_TO_STRING_PLAIN |
					      JSON_C_TO_STRING_NOSLASHESCAPE);
	text = text ? mem_str(text) : NULL;
	json_object_put(object);
	return text;
}

int json_print(const struct sample *sample, const struct stat_rows *rows, enum stat_by by)
{
	const char *text = json_text(sample, rows, by);

	if (!text)
		return error_msg("out of memory for %zu rows as JSON", rows->nr);
	puts(text);
	return 0;
}

// SPDX-License-Identifier: GPL-2.0
/* The tracepoints of trace.h */
#include "queue.h"

#define CREATE_TRACE_POINTS
#include "trace.h"

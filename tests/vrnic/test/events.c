// SPDX-License-Identifier: GPL-2.0
/*
 * Ports that go down and up, by their card's carrier and by the file of faults; a device that
 * dies, and one that is removed under traffic.
 */

#include <linux/kthread.h>
#include "vrnic_test.h"

struct heard {
	struct ib_event_handler handler;
	atomic_t up;
	atomic_t down;
	atomic_t fatal;
};

static void hear(struct ib_event_handler *handler, struct ib_event *event)
{
	struct heard *h = container_of(handler, struct heard, handler);

	if (event->event == IB_EVENT_PORT_ACTIVE)
		atomic_inc(&h->up);
	else if (event->event == IB_EVENT_PORT_ERR)
		atomic_inc(&h->down);
	else if (event->event == IB_EVENT_DEVICE_FATAL)
		atomic_inc(&h->fatal);
}

static void heard_begin(struct heard *h, struct ib_device *dev)
{
	memset(h, 0, sizeof(*h));
	INIT_IB_EVENT_HANDLER(&h->handler, dev, hear);
	ib_register_event_handler(&h->handler);
}

static int port_is(struct ib_device *dev)
{
	struct ib_port_attr attr;
	int ret = ib_query_port(dev, VRNIC_PORT, &attr);

	return ret ?: attr.state;
}

static int carrier(struct ib_device *dev, int on)
{
	return vt_shell("echo %d > /sys/class/net/%s/carrier", on,
			netdev_name(to_vdev(dev)->ndev));
}

/* @up, @down: how many events there have been, and no more */
static void check_port(struct heard *h, struct ib_device *dev, const char *what,
		       enum ib_port_state state, int up, int down)
{
	vt_ok(vt_until(atomic_read(&h->up) == up && atomic_read(&h->down) == down),
	      "%s: events", what);
	vt_equal(up, atomic_read(&h->up), "%s: of PORT_ACTIVE", what);
	vt_equal(down, atomic_read(&h->down), "%s: of PORT_ERR", what);
	vt_equal(state, port_is(dev), "%s: the port's state", what);
}

static void test_port(struct vt_devs *d)
{
	struct heard h;

	heard_begin(&h, d->a);
	vt_equal(IB_PORT_ACTIVE, port_is(d->a), "the port is up");
	vt_equal(0, carrier(d->a, 0), "carrier off");
	check_port(&h, d->a, "carrier off", IB_PORT_DOWN, 0, 1);
	vt_equal(0, carrier(d->a, 1), "carrier on");
	check_port(&h, d->a, "carrier on", IB_PORT_ACTIVE, 1, 1);
	vt_equal(0, vt_fault(d->a, "port down"), "down by hand");
	check_port(&h, d->a, "down by hand", IB_PORT_DOWN, 1, 2);
	vt_equal(0, vt_fault(d->a, "port down"), "once more");
	vt_equal(0, carrier(d->a, 0), "carrier off, too");
	vt_equal(0, carrier(d->a, 1), "carrier on");
	check_port(&h, d->a, "still down by hand", IB_PORT_DOWN, 1, 2);
	vt_equal(0, vt_fault(d->a, "port up"), "up by hand");
	check_port(&h, d->a, "up by hand", IB_PORT_ACTIVE, 2, 2);
	vt_equal(0, carrier(d->a, 0), "carrier off");
	vt_equal(0, vt_fault(d->a, "port up"), "up by hand is not enough");
	check_port(&h, d->a, "no carrier", IB_PORT_DOWN, 2, 3);
	vt_equal(0, carrier(d->a, 1), "carrier on");
	check_port(&h, d->a, "carrier on", IB_PORT_ACTIVE, 3, 3);
	if (d->a != d->b)
		vt_equal(IB_PORT_ACTIVE, port_is(d->b), "the other device's is up");
	vt_equal(0, atomic_read(&h.fatal), "no DEVICE_FATAL");
	ib_unregister_event_handler(&h.handler);
}

const struct vt_test vt_events[] = {
	{ "port", test_port },
	{}
};

/* ---- a device that is dead ---- */

static void test_die(struct vt_devs *d)
{
	struct vt_opt opt = { .timeout = 8, .retry_cnt = 1 };
	struct vt_pair p;
	struct heard h;
	int i;

	if (!vt_ok(d->a != d->b, "two devices") || vt_pair_make(&p, d, &opt))
		return;
	heard_begin(&h, d->b);
	vt_equal(0, vt_recv(&p.b, 1, NULL, 0), "receive posted");
	vt_equal(0, vt_recv(&p.a, 1, NULL, 0), "receive posted");
	vt_equal(0, vt_fault(d->b, "device die"), "it dies");
	vt_ok(vt_until(atomic_read(&h.fatal) == 1), "DEVICE_FATAL is told");
	vt_equal(0, vt_send(&p.a, 1, NULL), "SEND to it");
	vt_expect(p.a.scq, IB_WC_RETRY_EXC_ERR, NULL, "it does not answer");
	vt_ok(vt_none(p.b.rcq), "nothing arrives there");
	vt_equal(0, vt_send(&p.b, 2, NULL), "SEND by it");
	vt_ok(vt_none(p.b.scq), "nothing completes");
	vt_ok(vt_none(p.a.rcq) == false, "the other's receive was flushed, in ERR");
	/* Drivers of such devices flush in software: consumers get out of it */
	vt_equal(0, vt_to(&p.b, IB_QPS_ERR), "to ERR");
	vt_expect(p.b.scq, IB_WC_WR_FLUSH_ERR, NULL, "its SEND is flushed");
	vt_expect(p.b.rcq, IB_WC_WR_FLUSH_ERR, NULL, "its receive is flushed");
	vt_equal(0, vt_recv(&p.b, 3, NULL, 0), "receive in ERR");
	vt_expect(p.b.rcq, IB_WC_WR_FLUSH_ERR, NULL, "it is flushed, too");
	for (i = 0; i < 2; i++)
		vt_ok(vt_none(p.b.scq) && vt_none(p.b.rcq), "each once");
	ib_unregister_event_handler(&h.handler);
	vt_pair_free(&p);
}

const struct vt_test vt_die[] = {
	{ "die", test_die },
	{}
};

/* ---- a device that is taken away ---- */

struct traffic {
	struct vt_pair p;
	struct vt_thread thread[2];
	atomic_t done;
};

/* Sends and receives, until told to stop; what fails is of no interest */
static int traffic_thread(struct traffic *t, struct vt_end *e)
{
	u32 posted = 0, receives = 0;
	struct ib_wc wc;

	while (!kthread_should_stop()) {
		if (receives < 16 && !vt_recv(e, 1, NULL, 0))
			receives++;
		if (posted < 16 && !vt_send(e, 1, NULL))
			posted++;
		if (ib_poll_cq(e->scq->cq, 1, &wc) == 1) {
			posted--;
			if (!wc.status)
				atomic_inc(&t->done);
		}
		if (ib_poll_cq(e->rcq->cq, 1, &wc) == 1)
			receives--;
		cond_resched();
	}
	return 0;
}

static int traffic_a(void *arg)
{
	struct traffic *t = arg;

	return traffic_thread(t, &t->p.a);
}

static int traffic_b(void *arg)
{
	struct traffic *t = arg;

	return traffic_thread(t, &t->p.b);
}

/*
 * Two devices, the second of which @goes removes; its consumer stops when notified. Until then
 * it @works, unless its card is removed before.
 */
static void removal(struct vt_devs *d, const char *goes, const char *name, bool works)
{
	struct vt_opt opt = { .timeout = 8, .retry_cnt = 1 };
	struct traffic t = {};
	int i;

	if (!vt_ok(d->a != d->b, "two devices") || vt_pair_make(&t.p, d, &opt))
		return;
	vt_thread_start(&t.thread[0], 0, traffic_a, &t);
	vt_thread_start(&t.thread[1], 1, traffic_b, &t);
	vt_ok(vt_until(atomic_read(&t.done) > 500), "%s: there is traffic", goes);
	/* It returns when the device is removed, and waits for us until then */
	vt_equal(0, vt_shell("%s %s > /dev/null 2>&1 &", goes, name), "%s", goes);
	vt_ok(wait_for_completion_timeout(&d->dev[1]->going, 20 * HZ),
	      "%s: we are told", goes);
	if (works) {
		atomic_set(&t.done, 0);
		vt_ok(vt_until(atomic_read(&t.done) > 100),
		      "%s: it works until we let it go", goes);
	}
	for (i = 0; i < 2; i++)
		vt_equal(0, vt_thread_stop(&t.thread[i]), "%s: thread stopped", goes);
	vt_end_free(&t.p.b);
	vt_equal(0, vt_to(&t.p.a, IB_QPS_RESET), "%s: the other device", goes);
	vt_equal(0, vt_connect(&t.p.a, &t.p.a), "%s: connects to itself", goes);
	vt_equal(0, vt_recv(&t.p.a, 1, NULL, 0), "%s: takes a receive", goes);
	vt_equal(0, vt_send(&t.p.a, 1, NULL), "%s: and a SEND", goes);
	vt_expect(t.p.a.rcq, IB_WC_SUCCESS, NULL, "%s: which arrives", goes);
	vt_pair_free(&t.p);
}

static void test_link(struct vt_devs *d)
{
	removal(d, "rdma link del", dev_name(&d->b->dev), true);
}

static void test_card(struct vt_devs *d)
{
	removal(d, "ip link del", netdev_name(to_vdev(d->b)->ndev), false);
}

const struct vt_test vt_removal_link[] = {
	{ "rdma link del", test_link },
	{}
};

const struct vt_test vt_removal_card[] = {
	{ "ip link del", test_card },
	{}
};

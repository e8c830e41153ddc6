"""Hikitsugi: every issue is one durable workflow that works, waits, and hands its knowledge on."""

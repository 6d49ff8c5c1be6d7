// Loaded into a built program (LD_PRELOAD) that knows nothing of it: its clocks show another time, and the machine another boot.
//
//   CLOCKSHIFT_WALL    nanoseconds that the wall clock is ahead
//   CLOCKSHIFT_BOOT    nanoseconds that the clocks since boot are ahead
//   CLOCKSHIFT_BOOT_ID a file to read instead of /proc/sys/kernel/random/boot_id
//
// libfaketime (0.9.10) does not serve here: it turns absolute timers of the wall clock alone into real time, so that whoever sleeps by
// a clock since boot, as Swift's runtime does, never wakes; and it sets a variable, which moves the environment from beside
// the arguments, where Swift's runtime looks for them.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

#ifdef __linux__
#include <sys/timerfd.h>

static long long wall_shift, boot_shift;
static const char *boot_id;

__attribute__((constructor)) static void set_up(void) {
  const char *wall = getenv("CLOCKSHIFT_WALL"), *boot = getenv("CLOCKSHIFT_BOOT");
  wall_shift = wall ? strtoll(wall, NULL, 10) : 0;
  boot_shift = boot ? strtoll(boot, NULL, 10) : 0;
  boot_id = getenv("CLOCKSHIFT_BOOT_ID");
}

static long long shift_of(clockid_t clock) {
  switch (clock) {
  case CLOCK_REALTIME: case CLOCK_REALTIME_COARSE: return wall_shift;
  case CLOCK_MONOTONIC: case CLOCK_MONOTONIC_COARSE: case CLOCK_MONOTONIC_RAW: case CLOCK_BOOTTIME: return boot_shift;
  default: return 0;
  }
}

static struct timespec shifted(struct timespec time, long long by) {
  long long seconds = (long long)time.tv_sec + by / 1000000000, rest = (long long)time.tv_nsec + by % 1000000000;
  if (rest < 0) { rest += 1000000000; seconds -= 1; }
  if (rest >= 1000000000) { rest -= 1000000000; seconds += 1; }
  if (seconds < 0) { seconds = 0; rest = 1; }
  return (struct timespec){.tv_sec = seconds, .tv_nsec = rest};
}

int clock_gettime(clockid_t clock, struct timespec *time) {
  int status = (int)syscall(SYS_clock_gettime, clock, time);
  if (status == 0) *time = shifted(*time, shift_of(clock));
  return status;
}

int gettimeofday(struct timeval *restrict time, void *restrict zone) {
  (void)zone;
  struct timespec now;
  int status = clock_gettime(CLOCK_REALTIME, &now);
  if (status == 0) *time = (struct timeval){.tv_sec = now.tv_sec, .tv_usec = now.tv_nsec / 1000};
  return status;
}

time_t time(time_t *out) {
  struct timespec now = {0};
  clock_gettime(CLOCK_REALTIME, &now);
  if (out) *out = now.tv_sec;
  return now.tv_sec;
}

int clock_nanosleep(clockid_t clock, int flags, const struct timespec *wanted, struct timespec *left) {
  struct timespec until = flags & TIMER_ABSTIME ? shifted(*wanted, -shift_of(clock)) : *wanted;
  return syscall(SYS_clock_nanosleep, clock, flags, &until, left) == 0 ? 0 : errno;
}

// Which clock each timer descriptor runs by; those above are taken for clocks since boot.
enum { known_descriptors = 1024 };
static clockid_t clocks[known_descriptors];

int timerfd_create(int clock, int flags) {
  int descriptor = (int)syscall(SYS_timerfd_create, clock, flags);
  if (descriptor >= 0 && descriptor < known_descriptors) clocks[descriptor] = clock;
  return descriptor;
}

int timerfd_settime(int descriptor, int flags, const struct itimerspec *new, struct itimerspec *old) {
  struct itimerspec wanted = *new;
  int is_set = wanted.it_value.tv_sec != 0 || wanted.it_value.tv_nsec != 0;
  clockid_t clock = descriptor >= 0 && descriptor < known_descriptors ? clocks[descriptor] : CLOCK_MONOTONIC;
  if (is_set && (flags & TFD_TIMER_ABSTIME)) wanted.it_value = shifted(wanted.it_value, -shift_of(clock));
  return (int)syscall(SYS_timerfd_settime, descriptor, flags, &wanted, old);
}

int pthread_cond_clockwait(
    pthread_cond_t *restrict condition, pthread_mutex_t *restrict mutex, clockid_t clock,
    const struct timespec *restrict until) {
  static int (*real)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *);
  if (!real) real = (int (*)(pthread_cond_t *, pthread_mutex_t *, clockid_t, const struct timespec *))dlsym(RTLD_NEXT, "pthread_cond_clockwait");
  struct timespec wanted = shifted(*until, -shift_of(clock));
  return real(condition, mutex, clock, &wanted);
}

static const char *moved(const char *path) {
  return boot_id && path && strcmp(path, "/proc/sys/kernel/random/boot_id") == 0 ? boot_id : path;
}

static int opened(const char *path, int flags, va_list arguments) {
  mode_t mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(arguments, mode_t) : 0;
  return (int)syscall(SYS_openat, AT_FDCWD, moved(path), flags, mode);
}

int open(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  int descriptor = opened(path, flags, arguments);
  va_end(arguments);
  return descriptor;
}

int open64(const char *path, int flags, ...) {
  va_list arguments;
  va_start(arguments, flags);
  int descriptor = opened(path, flags | O_LARGEFILE, arguments);
  va_end(arguments);
  return descriptor;
}

FILE *fopen(const char *restrict path, const char *restrict mode) {
  static FILE *(*real)(const char *, const char *);
  if (!real) real = (FILE * (*)(const char *, const char *)) dlsym(RTLD_NEXT, "fopen");
  return real(moved(path), mode);
}
#endif

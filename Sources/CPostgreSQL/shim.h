#include <libpq-fe.h>
#include <string.h>
#if defined(_WIN32)
  #include <winsock2.h>
#else
  #include <errno.h>
  #include <netinet/in.h>
  #include <netinet/tcp.h>
  #include <poll.h>
  #include <sys/socket.h>
#endif

/// What a socket is ready for.
enum { PersistReadable = 1, PersistWritable = 2 };

/// Waits until a socket is ready for one of the events.
///
/// Returns the events; 0 if there was none within the time. A socket in trouble counts as ready for all, because the
/// next call on it reports what is wrong.
static inline int PersistWaitForSocket(int handle, int events, int milliseconds) {
#if defined(_WIN32)
  WSAPOLLFD polled = {0};
  polled.fd = (SOCKET)handle;
#else
  struct pollfd polled = {0};
  polled.fd = handle;
#endif
  polled.events = (short)((events & PersistReadable ? POLLIN : 0) | (events & PersistWritable ? POLLOUT : 0));
#if defined(_WIN32)
  int count = WSAPoll(&polled, 1, milliseconds);
  if (count < 0) { return events; }
#else
  int count = poll(&polled, 1, milliseconds);
  if (count < 0) { return errno == EINTR ? 0 : events; }
#endif
  if (count == 0) { return 0; }
  int found = (polled.revents & POLLIN ? PersistReadable : 0) | (polled.revents & POLLOUT ? PersistWritable : 0);
  return found != 0 ? found : events;
}

/// Ends the communication of a socket in both directions, without closing it.
static inline void PersistShutDownSocket(int handle) {
#if defined(_WIN32)
  shutdown((SOCKET)handle, SD_BOTH);
#else
  shutdown(handle, SHUT_RDWR);
#endif
}

/// Whether the other side of a TCP connection still answers.
typedef struct {
  /// Whether the connection isn't established yet.
  int isConnecting;
  /// The number of packets that the other side hasn't acknowledged: data, and probes of an idle connection.
  unsigned unanswered;
  /// The time since the last packet of the other side, in milliseconds.
  unsigned sinceAnswer;
} PersistTCPState;

/// Returns 0 for a socket of another kind, and on systems that don't tell.
static inline int PersistReadTCPState(int handle, PersistTCPState *state) {
#if defined(__linux__)
  struct tcp_info info;
  socklen_t length = sizeof info;
  memset(&info, 0, sizeof info);
  if (getsockopt(handle, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) { return 0; }
  state->isConnecting = info.tcpi_state == TCP_SYN_SENT;
  state->unanswered = info.tcpi_unacked + info.tcpi_probes + info.tcpi_retransmits;
  state->sinceAnswer = info.tcpi_last_ack_recv;
  return 1;
#else
  (void)handle;
  (void)state;
  return 0;
#endif
}

/// Lets the system end a connection whose data the other side doesn't acknowledge, where the system has such a limit
/// besides libpq's tcp_user_timeout.
static inline void PersistLimitRetransmission(int handle, int seconds) {
#if defined(__APPLE__) && defined(TCP_RXT_CONNDROPTIME)
  setsockopt(handle, IPPROTO_TCP, TCP_RXT_CONNDROPTIME, &seconds, sizeof seconds);
#else
  (void)handle;
  (void)seconds;
#endif
}

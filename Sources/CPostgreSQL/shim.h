#include <libpq-fe.h>
#include <string.h>
#include <sys/socket.h>

#if defined(__linux__)
  #include <netinet/in.h>
  #include <netinet/tcp.h>
#elif defined(__APPLE__)
  #include <netinet/in.h>
  #include <netinet/tcp.h>
#endif

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

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#endif

/// Hints to the system about large memory. Only Linux's kernel has them; elsewhere, nothing happens.
///
/// - SeeAlso: <https://man7.org/linux/man-pages/man2/madvise.2.html>
enum HugePages {
  /// Asks for memory in huge pages. The system may ignore it.
  static func request(_ base: UnsafeMutableRawPointer, _ byteCount: Int) {
    #if os(Linux) || os(Android)
      _ = madvise(base, byteCount, MADV_HUGEPAGE)
    #endif
  }

  /// Lets the system reclaim memory without writing it to disk, until it is written again.
  ///
  /// - Returns: False if the system can't.
  static func disuse(_ base: UnsafeMutableRawPointer, _ byteCount: Int) -> Bool {
    #if os(Linux) || os(Android)
      madvise(base, byteCount, MADV_FREE) == 0
    #else
      false
    #endif
  }
}

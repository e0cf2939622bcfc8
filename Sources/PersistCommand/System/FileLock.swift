import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// Advisory locks on open files, which the system releases when the file is closed or the process ends.
enum FileLock {
  /// Acquires an exclusive lock without waiting for it.
  ///
  /// Windows needs none: it doesn't delete files that are open.
  ///
  /// - Returns: False if another process holds it.
  static func lock(_ file: FileHandle) -> Bool {
    #if os(Windows)
      return true
    #else
      return flock(file.fileDescriptor, LOCK_EX | LOCK_NB) == 0
    #endif
  }
}

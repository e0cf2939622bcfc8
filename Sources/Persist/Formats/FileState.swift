package import Foundation

#if canImport(Glibc)
  import Glibc
#elseif canImport(Musl)
  import Musl
#elseif canImport(Android)
  import Android
#elseif canImport(Darwin)
  import Darwin
#endif

/// The file system's attributes of a file that show whether it was changed or replaced.
package struct FileState: Sendable, Hashable {
  package var size: Int64
  package var isFolder: Bool
  /// Whether it is a file with content, and neither a folder, a named pipe nor a device.
  package let isRegular: Bool
  /// The modification time in seconds and nanoseconds.
  private let seconds: Int64
  private let nanoseconds: Int64
  /// Files on different volumes may have the same number.
  private let volume: UInt64
  /// The number of the file on its volume, which a copy doesn't have. Unlike that of the volume, it stays the same when
  /// the volume is mounted again.
  package let fileNumber: UInt64

  /// Whether a path is a symbolic link, regardless of its destination.
  package static func isLink(_ url: URL) -> Bool {
    #if os(Windows)
      let facts = try? FileManager.default.attributesOfItem(atPath: url.path)
      return facts?[.type] as? FileAttributeType == .typeSymbolicLink
    #else
      // Without `FileManager`; see ``permissions(path:)``.
      let path = url.path
      var facts = stat()
      let isFound = path.withCString { strlen($0) == path.utf8.count && lstat($0, &facts) == 0 }
      return isFound && UInt32(facts.st_mode) & UInt32(S_IFMT) == UInt32(S_IFLNK)
    #endif
  }

  #if !os(Windows)
    /// The POSIX permissions of a file; nil if there is no such file, or it can't be accessed.
    ///
    /// `FileManager` answers with a dictionary of all attributes, whose first use takes half a million instructions.
    package static func permissions(path: String) -> Int? {
      var facts = stat()
      let isFound = path.withCString { strlen($0) == path.utf8.count && stat($0, &facts) == 0 }
      return isFound ? Int(facts.st_mode) & 0o777 : nil
    }
  #endif

  /// The first folder of a file's path that doesn't exist; nil if all do.
  package static func missingFolder(of file: URL) -> URL? {
    var missing: URL?
    var folder = file.absoluteURL.deletingLastPathComponent()
    while folder.pathComponents.count > 1, FileState(folder) == nil {
      missing = folder
      folder.deleteLastPathComponent()
    }
    return missing
  }

  /// Whether both refer to the same file.
  package func isSameFile(as other: FileState) -> Bool { fileNumber == other.fileNumber && volume == other.volume }

  /// Nil if there is no such file, or it can't be accessed.
  package init?(_ url: URL) { self.init(path: url.path) }

  /// Nil if there is no such file, or it can't be accessed.
  package init?(path: String) {
    #if os(Windows)
      // Unlike `stat`, the attributes are those of a link itself.
      let path = URL(fileURLWithPath: path).resolvingSymlinksInPath().path
      guard let facts = try? FileManager.default.attributesOfItem(atPath: path) else { return nil }
      size = (facts[.size] as? NSNumber)?.int64Value ?? 0
      let type = facts[.type] as? FileAttributeType
      isFolder = type == .typeDirectory
      isRegular = type == .typeRegular
      let date = (facts[.modificationDate] as? Date)?.timeIntervalSinceReferenceDate ?? 0
      (seconds, nanoseconds) = (Int64(bitPattern: date.bitPattern), 0)
      volume = (facts[.systemNumber] as? NSNumber)?.uint64Value ?? 0
      fileNumber = (facts[.systemFileNumber] as? NSNumber)?.uint64Value ?? 0
    #else
      var facts = stat()
      // A path that contains a zero would be that of another file.
      let isFound = path.withCString { strlen($0) == path.utf8.count && stat($0, &facts) == 0 }
      guard isFound else { return nil }
      size = Int64(facts.st_size)
      // The type of the field differs from that of the constants on 32-bit Android.
      let type = UInt32(facts.st_mode) & UInt32(S_IFMT)
      isFolder = type == UInt32(S_IFDIR)
      isRegular = type == UInt32(S_IFREG)
      #if canImport(Darwin)
        (seconds, nanoseconds) = (Int64(facts.st_mtimespec.tv_sec), Int64(facts.st_mtimespec.tv_nsec))
      #else
        (seconds, nanoseconds) = (Int64(facts.st_mtim.tv_sec), Int64(facts.st_mtim.tv_nsec))
      #endif
      volume = UInt64(truncatingIfNeeded: facts.st_dev)
      fileNumber = UInt64(facts.st_ino)
    #endif
  }
}

public import Foundation
import Persist

/// A large value in a fact: the digests of its parts, which are apart from the facts.
///
/// A part is identified by its content, so that one that several objects or versions have in common is sent and stored
/// once, and an interrupted transfer continues with the parts that are missing.
struct LargeValue: Sendable, Hashable {
  /// The size of the value in bytes.
  var size: Int
  /// The digests of its parts: SHA-256.
  var digests: [Data]

  /// The size in bytes from which a value is large, and that of each part but the last.
  static let limits = (value: 64 << 10, part: 4 << 20)
  static let digestSize = 32

  /// - Parameter bytes: A value as a fact would have it.
  init(of bytes: Data) {
    size = bytes.count
    digests = Self.parts(of: bytes).map { Data(SHA256.digest($0)) }
  }

  static func parts(of bytes: Data) -> [Data] {
    stride(from: 0, to: bytes.count, by: limits.part).map {
      bytes.subdata(in: bytes.startIndex + $0..<bytes.startIndex + min($0 + limits.part, bytes.count))
    }
  }

  func write(to writer: inout ByteWriter) {
    writer.number(UInt64(size))
    for digest in digests { writer.raw(digest) }
  }

  init(_ reader: inout ByteReader) throws {
    size = try reader.count(upTo: SyncFormat.maximumValueSize)
    guard size > 0 else { throw SyncFormat.error("A large value is empty.") }
    digests = []
    for _ in 0..<((size - 1) / Self.limits.part + 1) { digests.append(try reader.raw(Self.digestSize)) }
  }

  /// The places of the parts in a hub.
  var entries: [SyncEntry] { digests.map(SyncEntry.init(part:)) }
}

extension SyncEntry {
  /// Whether the entry is a part of a large value. Hubs store such entries, and don't list them.
  ///
  /// Its place is made of the content's digest, so that a hub can check it with ``isPart(of:)``.
  public var isPart: Bool { replica.uuid.6 >> 4 == 12 }

  /// Whether the entry is the place of a part with some content.
  public func isPart(of content: Data) -> Bool { self == SyncEntry(part: Data(SHA256.digest(content))) }

  /// The place of a part in a hub: a UUID of a version that is never used for others.
  ///
  /// - Parameter digest: The digest of the part.
  init(part digest: Data) {
    var bytes = [UInt8](digest.prefix(16))
    bytes[6] = 0xC0 | bytes[6] & 0x0F
    let uuid = bytes.withUnsafeBytes { $0.loadUnaligned(as: uuid_t.self) }
    self.init(replica: UUID(uuid: uuid), number: 1)
  }
}

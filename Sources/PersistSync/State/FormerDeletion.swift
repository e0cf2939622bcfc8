import Foundation
import Persist

/// A row that was deleted before the first synchronization.
struct FormerDeletion {
  let origin: Origin
  /// The object's identity by a value; nil if it isn't known.
  let identity: Identity?

  /// The key of its entry.
  var key: Data { Self.key(of: origin) }

  static func key(of origin: Origin) -> Data {
    var writer = ByteWriter()
    writer.byte(UInt8(ascii: "D"))
    writer.counted(origin.root)
    writer.fixed(UInt64(bitPattern: origin.key))
    return writer.data
  }

  var content: Data {
    var writer = ByteWriter()
    writer.originTime(origin.time)
    if let identity { writer.raw(identity.bytes) }
    return writer.data
  }

  /// Whether the content of the entry under the key of an origin proves that the object was deleted.
  ///
  /// Objects that two copies have created while they had no history may have equal keys. Equal identifying values show
  /// that they are one, and so does a first transaction of the history that is older than the copies.
  static func proves(_ content: Data, _ identity: Identity, _ origin: Origin) throws -> Bool {
    var reader = ByteReader(content)
    let time = try reader.originTime()
    if case (.beforeHistory, .beforeHistory) = (time, origin.time), reader.rest() == identity.bytes { return true }
    return time.proves(origin.time)
  }
}

import Foundation

/// The content of a row's entry, whose key is ``SyncTables/key(of:)``: the objects that the row represents.
///
/// If it represents one object, its packed facts are there too, so that a change of a row reads and writes one entry,
/// beside those of the rows that were created with it. The object's own entry leads there: ``PackedFacts/link(to:)``.
enum RowEntry {
  /// An identity isn't empty, so that no list of identities begins like this.
  private static let packedMark: UInt8 = 0

  /// The entry of a row that represents several objects, each of which has an entry of its own.
  static func data(_ identities: [Identity]) -> Data {
    var writer = ByteWriter()
    for identity in identities { writer.counted(identity.bytes) }
    return writer.data
  }

  /// Writes the beginning of the entry of a row that represents one object; its packed facts follow.
  static func begin(_ identity: Identity, in writer: inout ByteWriter) {
    writer.byte(packedMark)
    writer.counted(identity.bytes)
  }

  static func data(_ identity: Identity, packed: Data) -> Data {
    var writer = ByteWriter()
    begin(identity, in: &writer)
    writer.raw(packed)
    return writer.data
  }

  /// The objects of a row.
  static func identities(_ data: Data) throws -> [Identity] {
    if data.first == packedMark { return try alone(data).map { [$0.identity] } ?? [] }
    var reader = ByteReader(data)
    var all: [Identity] = []
    while !reader.isAtEnd { all.append(Identity(bytes: try reader.counted(upTo: SyncFormat.maximumNameSize))) }
    return all
  }

  /// The object that has its packed facts in the entry, and these; nil for a list of identities.
  static func alone(_ data: Data) throws -> (identity: Identity, packed: Data)? {
    guard data.first == packedMark else { return nil }
    let bytes = [UInt8](data)
    let (identity, packed) = try alone(bytes)
    return (identity, Data(bytes[packed]))
  }

  /// The object that has its packed facts in the bytes of an entry that begins with the mark, and the place of these.
  static func alone(_ bytes: [UInt8]) throws -> (identity: Identity, packed: Range<Int>) {
    var reader = ByteReader(bytes, 1..<max(1, bytes.count))
    let identity = Identity(bytes: try reader.counted(upTo: SyncFormat.maximumNameSize))
    return (identity, reader.position..<bytes.count)
  }

  /// Reads the beginning of an entry.
  ///
  /// - Returns: Whether the entry contains the packed facts of a single object: its identity and these follow.
  static func beginsAlone(_ reader: inout ByteReader) throws -> Bool { try reader.byte() == packedMark }
}

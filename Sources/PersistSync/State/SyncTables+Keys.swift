import Foundation
import Persist

/// The keys of entries.
extension SyncTables {
  static func key(_ table: Character, _ parts: Data...) -> Data {
    var writer = ByteWriter()
    writer.byte(table.asciiValue ?? 0)
    for (index, part) in parts.enumerated() {
      if index == parts.count - 1 && index > 0 { writer.raw(part) } else { writer.counted(part) }
    }
    return writer.data
  }

  static func key(of row: RowID) -> Data {
    var writer = ByteWriter()
    writeKey(of: row, to: &writer)
    return writer.data
  }

  /// The beginning of the keys of the rows of a table.
  static func keys(ofRowsIn root: String) -> Data {
    var writer = ByteWriter()
    writer.byte(rowMark)
    writer.counted(root)
    return writer.data
  }

  /// The keys of the entries of rows, in the order of these.
  static func keys(of rows: [RowID]) -> ByteList {
    var keys = ByteList()
    var writer = ByteWriter()
    for row in rows {
      writer.removeAll()
      writeKey(of: row, to: &writer)
      keys.append(writer.bytes[...])
    }
    return keys
  }

  static let rowMark = UInt8(ascii: "R")

  static func writeKey(of row: RowID, to writer: inout ByteWriter) {
    writer.byte(rowMark)
    writer.counted(row.root)
    writer.fixed(UInt64(bitPattern: row.key))
  }
}

import Foundation
import Persist

/// Reads rows of results into chunks, in one pass over the columns of each row.
///
/// The first columns are those of ``RowPlan/fixedColumns``.
struct ServerRowReader {
  private let plan: RowPlan
  private let numbers: EntityNumbers
  private var writer: RowChunkWriter?
  private let expectedRows: Int
  /// Rows whose values needn't be read; nil for none.
  var held: KnownRows?
  private(set) var batch = RowBatch()
  /// The value of the owners' column for each row.
  private(set) var owners: [Int64] = []

  init(_ plan: RowPlan, map: TableMap, expectedRows: Int) {
    self.plan = plan
    self.expectedRows = expectedRows
    numbers = map.numbers
    batch.reserveCapacity(expectedRows)
  }

  /// Reads all rows, ignoring those of entities outside the plan.
  ///
  /// - Parameter ownerColumn: A column after those of the plan to collect in ``owners``; nil for none.
  mutating func readRows(_ result: any ServerResult, ownerColumn: Int? = nil) throws {
    for row in 0..<result.rowCount {
      let key = result.integer(row, 0)
      guard let variant = plan.variant(ofNumber: result.integer(row, 1)) else {
        batch.omit(key: key)
        continue
      }
      let version = result.integer(row, 2)
      if let held, held.holds(key, version) {
        batch.append(key: key, entityIndex: variant.entityIndex)
      } else {
        let offset = try readRow(row, of: result, variant, version: version)
        batch.append(key: key, entityIndex: variant.entityIndex, offset: offset)
      }
      if let ownerColumn { owners.append(result.integer(row, ownerColumn)) }
    }
  }

  /// Reads only keys and entities.
  mutating func readKeys(_ result: any ServerResult) {
    for row in 0..<result.rowCount {
      let key = result.integer(row, 0)
      guard let variant = plan.variant(ofNumber: result.integer(row, 1)) else {
        batch.omit(key: key)
        continue
      }
      batch.append(key: key, entityIndex: variant.entityIndex)
    }
  }

  mutating func sortByKey() { batch.sortByKey() }

  private mutating func readRow(
    _ row: Int, of result: any ServerResult, _ variant: RowPlan.Variant, version: Int64
  ) throws -> UInt32 {
    // Moved out and back, to avoid retaining its chunk once more for each row.
    var writer = writer.take() ?? firstWriter(variant)
    let chunkCount = writer.chunkCount
    writer.beginRow(version: version, slotCount: variant.slotCount)
    var size = 0
    for fill in variant.fills {
      guard let bytes = result.bytes(row, Int(fill.column)) else { continue }
      switch fill.form {
      case .integer: writer.setInteger(Self.integer(bytes), slot: fill.slot)
      case .boolean: writer.setInteger(Self.integer(bytes) == 0 ? 0 : 1, slot: fill.slot)
      case .double:
        let number = Double(bitPattern: UInt64(bitPattern: Self.integer(bytes)))
        // Only other programs write it; Persist has no such value.
        if !number.isNaN { writer.setDouble(number, slot: fill.slot) }
      // NaN or infinity.
      case .decimal where bytes.contains(where: { $0 > UInt8(ascii: "9") }): continue
      case .text, .bytes, .decimal, .uuid:
        size += bytes.count
        // Slots contain 32-bit offsets.
        guard size <= Int(Int32.max) else {
          throw PersistenceError.tooLarge(row: result.integer(row, 0), of: plan.entity)
        }
        writer.setBytes(bytes.baseAddress, count: bytes.count, slot: fill.slot)
      case .entityNumber:
        if let index = numbers.entityIndex(ofNumber: Int(truncatingIfNeeded: Self.integer(bytes))) {
          writer.setInteger(Int64(index + 1), slot: fill.slot)
        }
      }
    }
    let offset = writer.endRowInPlace()
    if writer.chunkCount != chunkCount { batch.append(writer.chunk) }
    self.writer = writer
    return offset
  }

  private mutating func firstWriter(_ variant: RowPlan.Variant) -> RowChunkWriter {
    let writer = RowChunkWriter(slotCount: variant.slotCount, expectedRows: expectedRows)
    batch.append(writer.chunk)
    return writer
  }

  private static func integer(_ bytes: UnsafeRawBufferPointer) -> Int64 {
    switch bytes.count {
    case 8: Int64(bigEndian: bytes.loadUnaligned(as: Int64.self))
    case 4: Int64(Int32(bigEndian: bytes.loadUnaligned(as: Int32.self)))
    case 2: Int64(Int16(bigEndian: bytes.loadUnaligned(as: Int16.self)))
    case 1: Int64(bytes[0])
    default: 0
    }
  }
}

import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistCore

@Suite("Chunks of rows")
struct RowChunkTests {
  @Test("Rows of any size are read back unchanged, and no chunk is larger than all before it", arguments: 0..<4)
  func chunks(seed: UInt64) throws {
    var random = SeededRandom(seed: seed)
    let expectedRows = [nil, 1, 100, 100_000][Int(seed)]
    var writer = RowChunkWriter(slotCount: 2, expectedRows: expectedRows)
    var rows: [(snapshot: RowSnapshot, number: Int64, text: String)] = []
    var capacities = [writer.chunk.capacity]
    for number in 0..<Int64(40_000) {
      // Occasionally a row that no usual chunk can contain.
      let length = number % 35_000 == 34_999 ? 3_000_000 : Int.random(in: 0..<300, using: &random)
      let text = String(repeating: "\(number % 10)", count: length)
      writer.beginRow(version: number, slotCount: 2)
      writer.setInteger(number, slot: 0)
      writer.setString(text, slot: 1)
      let snapshot = writer.endRow()
      rows.append((snapshot, number, text))
      if writer.chunkCount != capacities.count {
        let capacity = writer.chunk.capacity
        let before = capacities.reduce(0, +)
        #expect(capacity <= max(RowChunk.standardCapacity, before) || capacity <= 2 * (length + 100))
        if capacity == RowChunk.hugeCapacity {
          #expect(Int(bitPattern: writer.chunk.base).isMultiple(of: RowChunk.hugeCapacity))
        }
        capacities.append(capacity)
      }
    }
    #expect(capacities.contains(RowChunk.hugeCapacity))
    let areSame = rows.allSatisfy { row in
      row.snapshot.version == row.number && row.snapshot.integer(0) == row.number && row.snapshot.string(1) == row.text
    }
    #expect(areSame)
  }

  @Test("Rows of any number of slots and any version are read back, in chunks of any size", arguments: 0..<20)
  func shapes(seed: UInt64) throws {
    struct Row {
      let snapshot: RowSnapshot
      let version: Int64
      let values: [Int64?]
      let text: String
    }
    var random = SeededRandom(seed: seed)
    let slotCount = Int.random(in: 1...200, using: &random)
    var writer = RowChunkWriter(slotCount: slotCount, expectedRows: Int.random(in: 1...50, using: &random))
    var rows: [Row] = []
    for _ in 0..<200 {
      let edges = [0, 1, 7, Int64(UInt32.max) - 1, Int64(UInt32.max), 1 << 40, .max, .min, -1]
      let version = edges.randomElement(using: &random) ?? 1
      let text = String(repeating: "x", count: Int.random(in: 0..<30, using: &random))
      writer.beginRow(version: version, slotCount: slotCount)
      writer.setString(text, slot: 0)
      let values = (1..<max(2, slotCount)).map { slot -> Int64? in
        guard slot < slotCount, Bool.random(using: &random) else { return nil }
        let value = Int64.random(in: .min ... .max, using: &random)
        writer.setInteger(value, slot: slot)
        return value
      }
      rows.append(Row(snapshot: writer.endRow(), version: version, values: values, text: text))
    }
    for row in rows {
      #expect(row.snapshot.version == row.version)
      #expect(!row.snapshot.isNull(0, of: slotCount) && row.snapshot.string(0) == row.text)
      for slot in 1..<slotCount {
        let isNull = row.snapshot.isNull(slot, of: slotCount)
        #expect((isNull ? nil : row.snapshot.integer(slot)) == row.values[slot - 1])
      }
    }
  }

  @Test("A copied row may get a version of the other size", arguments: [(5, 1 << 40), (1 << 40, 5), (.max, .min)])
  func copies(versions: (Int64, Int64)) {
    var writer = RowChunkWriter(slotCount: 1, expectedRows: 1)
    writer.beginRow(version: versions.0, slotCount: 1)
    writer.setInteger(4711, slot: 0)
    let first = writer.endRow()
    writer.beginRow(
      copying: first, byteCount: RowSnapshot.fixedSize(slotCount: 1), version: versions.1, slotCount: 1)
    let second = writer.endRow()
    #expect(first.version == versions.0 && first.integer(0) == 4711)
    #expect(second.version == versions.1 && second.integer(0) == 4711 && !second.isNull(0, of: 1))
  }

  @Test("The rows of a fetch of less than 2 MB use chunks of at most 64 KB")
  func small() {
    var writer = RowChunkWriter(slotCount: 2)
    for number in 0..<Int64(15_000) {
      writer.beginRow(version: 1, slotCount: 2)
      writer.setInteger(number, slot: 0)
      writer.setString("a text of about 70 bytes, so that a row takes a hundred bytes of memory", slot: 1)
      _ = writer.endRow()
      #expect(writer.chunk.capacity <= RowChunk.standardCapacity)
    }
  }

  @Test(
    "The memory of freed chunks of common sizes is used again, and is limited",
    arguments: [RowChunk.standardCapacity, RowChunk.hugeCapacity])
  func spareMemory(capacity: Int) {
    let spare = capacity == RowChunk.hugeCapacity ? RowChunk.SpareMemory.huge : .standard
    #if os(Linux)
      // Other tests of the process create and free chunks too.
      let isReused = (0..<1000).contains { _ in
        let address = UInt(bitPattern: RowChunk(capacity: capacity).base)
        return UInt(bitPattern: RowChunk(capacity: capacity).base) == address
      }
      #expect(isReused)
      let isKept = (0..<1000).contains { _ in
        _ = RowChunk(capacity: capacity)
        return spare.count > 0
      }
      #expect(isKept)
    #endif
    var chunks = (0..<3 * spare.limit).map { _ in RowChunk(capacity: capacity) }
    #expect(Set(chunks.map { UInt(bitPattern: $0.base) }).count == chunks.count)
    for (number, chunk) in chunks.enumerated() { chunk.base.storeBytes(of: number, as: Int.self) }
    #expect(chunks.enumerated().allSatisfy { $1.base.load(as: Int.self) == $0 })
    chunks = []
    #expect(spare.count <= spare.limit)
  }
}

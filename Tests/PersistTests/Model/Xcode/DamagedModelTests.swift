import Foundation
import PersistTestSupport
import Testing

@testable import Persist

/// Damages real files at random, with fixed seeds: each must come out as an error or as a model.
///
/// A crash or an endless loop ends the whole run. `PERSIST_LONG_TESTS=1` tries a hundred times as many.
@Suite("Damaged models", .needsSharedData)
struct DamagedModelTests {
  private static let rounds = ProcessInfo.processInfo.environment["PERSIST_LONG_TESTS"] == "1" ? 5_000 : 50

  private func tryReading(_ read: () throws -> ModelDescription) throws {
    do {
      let description = try read()
      _ = ModelCheck.problems(in: description)
    } catch is PersistError {
      // Refused with a reason, as it should be.
    }
  }

  private func archives() throws -> [Data] {
    try storesWithSources.map { try RawDeflate.expand(modelCache(ofStore: $0.store), place: .unknown) }
      + compiledWithSources.map { try Data(contentsOf: SharedData.url($0.compiled)) }
      + [Data(contentsOf: SharedData.url("cars/Fixtures/V2toV3.cdm"))]
  }

  @Test("Bytes that changed and files that were cut short")
  func bytes() throws {
    for (number, archive) in try archives().enumerated() {
      var random = SeededRandom(seed: UInt64(number))
      for _ in 0..<Self.rounds {
        var data = archive
        switch Int.random(in: 0..<4, using: &random) {
        case 0: data = data.prefix(Int.random(in: 0..<data.count, using: &random))
        case 1: data.removeSubrange(randomRange(in: data, using: &random))
        default:
          for _ in 0...Int.random(in: 0..<8, using: &random) {
            data[Int.random(in: 0..<data.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
          }
        }
        try tryReading { try XcodeModelArchive.model(fromArchive: data) }
        _ = try? CompiledMappingModel.header(fromArchive: data)
      }
    }
  }

  @Test("Compressed data that changed or was cut short")
  func compressed() throws {
    for (number, pair) in storesWithSources.enumerated() {
      var random = SeededRandom(seed: UInt64(number))
      let cache = try modelCache(ofStore: pair.store)
      for _ in 0..<Self.rounds {
        var data = cache
        data[Int.random(in: 0..<data.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        if Bool.random(using: &random) { data = data.prefix(Int.random(in: 0..<data.count, using: &random)) }
        try tryReading { try XcodeModelArchive.model(fromModelCache: data) }
      }
    }
  }

  @Test("Archives that are whole, but whose objects say something else")
  func objects() throws {
    for (number, archive) in try archives().enumerated() {
      var random = SeededRandom(seed: UInt64(number))
      let list = try PropertyList(data: archive)
      for _ in 0..<Self.rounds {
        let changed = try mutated(list, using: &random)
        try tryReading { try XcodeModelArchive.model(fromArchive: changed.binaryData()) }
        _ = try? CompiledMappingModel.header(fromArchive: changed.binaryData())
      }
    }
  }

  @Test("The XML of models that changed or was cut short")
  func markup() throws {
    for (number, pair) in (storesWithSources + compiledWithSources.map { ($0.compiled, $0.source) }).enumerated() {
      var random = SeededRandom(seed: UInt64(number))
      let text = try Data(contentsOf: SharedData.url(pair.source).appendingPathComponent("contents"))
      for _ in 0..<Self.rounds {
        var data = text
        switch Int.random(in: 0..<4, using: &random) {
        case 0: data = data.prefix(Int.random(in: 0..<data.count, using: &random))
        case 1: data.removeSubrange(randomRange(in: data, using: &random))
        case 2:
          let piece = data[randomRange(in: data, using: &random)]
          data.insert(contentsOf: piece, at: Int.random(in: 0..<data.count, using: &random))
        default:
          let odd = Array("<>\"'&;/=! []-\u{0}\n09azNY".utf8)
          for _ in 0...Int.random(in: 0..<4, using: &random) {
            data[Int.random(in: 0..<data.count, using: &random)] = odd[Int.random(in: 0..<odd.count, using: &random)]
          }
        }
        let changed = Data(data)
        try tryReading { try XMLModelReader.model(from: MarkupReader.root(in: changed, from: nil), file: nil) }
      }
    }
  }

  private func randomRange(in data: Data, using random: inout SeededRandom) -> Range<Int> {
    let start = Int.random(in: 0..<data.count, using: &random)
    return start..<min(data.count, start + Int.random(in: 1...64, using: &random))
  }

  /// The archive with a few members of its objects replaced.
  private func mutated(_ list: PropertyList, using random: inout SeededRandom) throws -> PropertyList {
    guard case .dictionary(var archive) = list, case .array(var objects)? = archive["$objects"] else { return list }
    func value() -> PropertyList {
      switch Int.random(in: 0..<8, using: &random) {
      case 0: .integer([-1, 0, 1, 16, 2100, .max, .min].randomElement(using: &random) ?? 0)
      case 1: .string(["", "Car", "$null", "NSFetchRequest", "a.b"].randomElement(using: &random) ?? "")
      case 2: .array([.uid(UInt64(Int.random(in: 0..<objects.count, using: &random)))])
      case 3: .null
      case 4: .data(Data([1, 2, 3]))
      default: .uid(UInt64(Int.random(in: 0..<objects.count, using: &random)))
      }
    }
    for _ in 0...Int.random(in: 0..<4, using: &random) {
      let index = Int.random(in: 0..<objects.count, using: &random)
      switch objects[index] {
      case .dictionary(var members):
        guard let key = members.keys.sorted().randomElement(using: &random) else { continue }
        members[key] = Int.random(in: 0..<6, using: &random) == 0 ? nil : value()
        objects[index] = .dictionary(members)
      default: objects[index] = value()
      }
    }
    archive["$objects"] = .array(objects)
    return .dictionary(archive)
  }
}

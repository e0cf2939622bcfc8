import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

/// Damages real files at random: each must be read as an error or as a model. A crash or an endless loop ends the whole
/// run.
@Suite("Damaged models", .needsSharedData)
struct DamagedModelTests {
  private func tryReading(_ read: () throws -> ModelDescription) throws {
    do {
      let description = try read()
      _ = ModelCheck.problems(in: description)
    } catch is PersistenceError {
      // Rejected with a reason, as expected.
    }
  }

  private func archives() throws -> [Data] {
    try storesWithSources.map { try RawDeflate.expand(modelCache(ofStore: $0.store), place: .unknown) }
      + compiledWithSources.map { try Data(contentsOf: SharedData.url($0.compiled)) }
      + [Data(contentsOf: SharedData.url("cars/Fixtures/V2toV3.cdm"))]
  }

  @Test(
    "Changed bytes and truncated files", .law("archives-with-changed-bytes", short: 50, long: 5000))
  func bytes() throws {
    let archives = try archives()
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      for archive in archives {
        var data = archive
        switch Int.random(in: 0..<4, using: &random) {
        case 0: data = data.prefix(Int.random(in: 0..<data.count, using: &random))
        case 1: data.removeSubrange(randomRange(in: data, using: &random))
        default:
          for _ in 0...Int.random(in: 0..<8, using: &random) {
            data[Int.random(in: 0..<data.count, using: &random)] = UInt8.random(in: 0...255, using: &random)
          }
        }
        try tryReading { try XcodeModelArchive.model(fromArchive: data).description }
        _ = try? CompiledMappingModel.header(fromArchive: data)
      }
    }
  }

  @Test("Changed or truncated compressed data", .law("compressed-models", short: 50, long: 5000))
  func compressed() throws {
    let caches = try storesWithSources.map { try modelCache(ofStore: $0.store) }
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      for cache in caches {
        var data = cache
        data[Int.random(in: 0..<data.count, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        if Bool.random(using: &random) { data = data.prefix(Int.random(in: 0..<data.count, using: &random)) }
        try tryReading { try XcodeModelArchive.model(fromModelCache: data).description }
      }
    }
  }

  @Test(
    "Intact archives with wrong contents",
    .law("archives-with-other-objects", short: 20, long: 5000))
  func objects() throws {
    let lists = try archives().map { try PropertyList(data: $0) }
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      for list in lists {
        let changed = try mutated(list, using: &random)
        try tryReading { try XcodeModelArchive.model(fromArchive: changed.binaryData()).description }
        _ = try? CompiledMappingModel.header(fromArchive: changed.binaryData())
      }
    }
  }

  @Test("Changed or truncated XML of models", .law("model-markup", short: 50, long: 5000))
  func markup() throws {
    let texts = try (storesWithSources.map(\.source) + compiledWithSources.map(\.source)).map { source in
      try Data(contentsOf: SharedData.url(source).appendingPathComponent("contents"))
    }
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      for text in texts {
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
        try tryReading {
          try XMLModelReader.model(from: MarkupReader.root(in: changed, from: nil), file: nil).description
        }
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

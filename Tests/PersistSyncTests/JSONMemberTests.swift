import Foundation
import Persist
import PersistTestSupport
import Testing

@testable import PersistSync

@Suite("Synchronization: members of JSON values")
struct JSONMemberTests {
  private static func model(_ name: String = "settings", former: String? = nil) throws -> ManagedObjectModel {
    var range = AttributeDescription("range", .string)
    range.isSynchronizedAsWhole = true
    return try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "User",
          attributes: [.init("id", .int64), .init(name, .string, renamingIdentifier: former), range])
      ]))
  }

  /// Two devices with one object.
  private struct Pair {
    let hub: FolderHub
    let devices: [Device]

    init(_ folder: URL, _ attribute: String, _ text: String) async throws {
      hub = FolderHub(folder.appendingPathComponent("hub"))
      let model = try JSONMemberTests.model()
      devices = try ["a", "b"].map {
        try Device(folder.appendingPathComponent("\($0).sqlite"), model, identifiedBy: ["User": "id"])
      }
      let context = ManagedObjectContext(devices[0].coordinator)
      let user = try context.create("User")
      user["id"] = 1
      user[attribute] = text
      try context.save()
      try await synchronize()
    }

    func synchronize() async throws {
      for device in devices + devices { #expect(try await device.replica.synchronize(with: hub).refused.isEmpty) }
      #expect(try devices[0].contents() == devices[1].contents())
      for device in devices { #expect(try device.outdatedRows().isEmpty) }
    }

    func set(_ attribute: String, _ text: String?, on index: Int) throws {
      let context = ManagedObjectContext(devices[index].coordinator)
      try #require(context.fetch(FetchRequest<ManagedObject>("User")).first)[attribute] = text
      try context.save()
    }

    func text(_ attribute: String) throws -> String? {
      let context = ManagedObjectContext(devices[1].coordinator)
      return try context.fetch(FetchRequest<ManagedObject>("User")).first?[attribute] as? String
    }
  }

  /// The result of changes of one value that two devices make without knowing of each other's.
  private func merged(
    _ first: String, _ second: String, of text: String, attribute: String = "settings"
  ) async throws -> String? {
    try await withTemporaryFolder { folder in
      let pair = try await Pair(folder, attribute, text)
      try pair.set(attribute, first, on: 0)
      try pair.set(attribute, second, on: 1)
      try await pair.synchronize()
      return try pair.text(attribute)
    }
  }

  @Test("Two devices that change different members of a value both keep their changes", arguments: [
    (#"{"a":1,"b":2}"#, #"{"a":9,"b":2}"#, #"{"a":1,"b":2.50,"c":[1,2]}"#, #"{"a":9,"b":2.50,"c":[1,2]}"#),
    (#"{"a":1,"b":2}"#, #"{"b":2}"#, #"{"a":1,"b":3}"#, #"{"b":3}"#),
    (
      #"{"v":{"x":1,"y":2}}"#, #"{"v":{"x":5,"y":2}}"#, #"{"v":{"x":1,"y":7},"w":"é/\""}"#,
      #"{"v":{"x":5,"y":7},"w":"é/\""}"#
    ),
    ("{}", #"{"a":1}"#, #"{"b":1}"#, #"{"a":1,"b":1}"#),
    // The later change of the same member holds.
    (#"{"a":1,"b":2}"#, #"{"a":2,"b":2}"#, #"{"a":3,"b":2}"#, #"{"a":3,"b":2}"#),
    // A member in an object that was removed isn't there.
    (#"{"a":1,"v":{"x":1}}"#, #"{"a":1}"#, #"{"a":1,"v":{"x":2}}"#, #"{"a":1}"#),
  ])
  func members(_ text: String, _ first: String, _ second: String, _ wanted: String) async throws {
    #expect(try await merged(first, second, of: text) == wanted)
  }

  @Test("Values without common members, and values of other kinds, are replaced as a whole", arguments: [
    (#"{"circle":{"r":1}}"#, #"{"circle":{"r":2}}"#, #"{"square":{"w":1}}"#, #"{"square":{"w":1}}"#),
    (#"{"circle":{"r":1}}"#, #"{"line":{}}"#, #"{"square":{"w":1}}"#, #"{"square":{"w":1}}"#),
    (
      #"{"s":{"circle":{"r":1}}}"#, #"{"s":{"square":{"w":1}}}"#, #"{"s":{"circle":{"r":2}}}"#,
      #"{"s":{"square":{"w":1}}}"#
    ),
    (#"{"a":1,"b":2}"#, #"{"a":9,"b":2}"#, #"[1,2]"#, #"[1,2]"#),
    (#"{ "a": 1, "b": 2 }"#, #"{ "a": 9, "b": 2 }"#, #"{ "a": 1, "b": 3 }"#, #"{ "a": 1, "b": 3 }"#),
    (#"{"b":1,"a":2}"#, #"{"b":9,"a":2}"#, #"{"b":1,"a":3}"#, #"{"b":1,"a":3}"#),
  ])
  func wholes(_ text: String, _ first: String, _ second: String, _ wanted: String) async throws {
    #expect(try await merged(first, second, of: text) == wanted)
  }

  @Test("An attribute can be synchronized as a whole")
  func whole() async throws {
    let merged = try await merged(
      #"{"from":5,"to":9}"#, #"{"from":1,"to":5}"#, of: #"{"from":1,"to":9}"#, attribute: "range")
    #expect(merged == #"{"from":1,"to":5}"#)
  }

  @Test("A value that is set as a whole replaces earlier changes of members, and gets later ones")
  func order() async throws {
    try await withTemporaryFolder { folder in
      let pair = try await Pair(folder, "settings", #"{"a":1,"b":2}"#)
      try pair.set("settings", #"{"a":5,"b":2}"#, on: 0)
      try await pair.synchronize()
      try pair.set("settings", nil, on: 1)
      try await pair.synchronize()
      #expect(try pair.text("settings") == nil)
      try pair.set("settings", #"{"b":3}"#, on: 1)
      try await pair.synchronize()
      #expect(try pair.text("settings") == #"{"b":3}"#)
      try pair.set("settings", #"{"a":7,"b":3}"#, on: 0)
      try await pair.synchronize()
      #expect(try pair.text("settings") == #"{"a":7,"b":3}"#)
    }
  }

  @Test("Members are merged under the attribute's new name, also in snapshots")
  func renamed() async throws {
    try await withTemporaryFolder { folder in
      let pair = try await Pair(folder, "settings", #"{"a":1,"b":2}"#)
      try pair.devices[1].update(to: Self.model("options", former: "settings"), nil)
      try pair.set("settings", #"{"a":5,"b":2}"#, on: 0)
      try pair.set("options", #"{"a":1,"b":6}"#, on: 1)
      for device in pair.devices + pair.devices { try await device.replica.synchronize(with: pair.hub) }
      #expect(try pair.text("options") == #"{"a":5,"b":6}"#)
      try await pair.devices[1].replica.compact(pair.hub, forgetting: .zero)
      let third = try Device(folder.appendingPathComponent("c.sqlite"), Self.model(), identifiedBy: ["User": "id"])
      try await third.replica.synchronize(with: pair.hub)
      #expect(try third.contents() == pair.devices[0].contents())
    }
  }

  @Test(
    "The changes from one JSON value to another make the other one",
    .law("sync-json-members", short: 300, long: 100_000))
  func changes() throws {
    forEachSeed { seed in
      var random = SeededRandom(seed: seed)
      func number(_ count: Int) -> Int { Int.random(in: 0..<count, using: &random) }
      func value(_ depth: Int) -> JSONPart {
        guard number(3) > 0, depth < 4 else {
          let texts = ["1", "-0.5e+7", "null", "\"\\u00e9\"", "[{\"b\":1,\"a\":[]}]", "{\"b\":1,\"a\":2}"]
          return .text(Data(texts[number(texts.count)].utf8))
        }
        let names = (0..<number(4)).map { _ in Data(["a", "b", "é", ""][number(4)].utf8) }
        return .object(Dictionary(names.map { ($0, value(depth + 1)) }, uniquingKeysWith: { $1 }))
      }
      let (old, new) = (value(0), value(0))
      #expect(JSONPart(old.text) == old)
      let object = try? JSONSerialization.jsonObject(with: old.text, options: .fragmentsAllowed)
      #expect(object != nil)
      guard let changes = old.changes(to: new) else { return }
      var merged = old
      for change in changes.shuffled(using: &random) { merged.apply(change.text, at: try change.path.names[...]) }
      #expect(merged == new)
      #expect(changes.isEmpty == (old == new))
    }
  }

  @Test("Damaged JSON is no member")
  func damaged() {
    for text in [
      "", "{", "{\"a\"}", "{\"a\":1,}", "[1,]", "01", "1.", "+1", "nul", "\"\\x\"", "\"\n\"", " 1", "1 ", "\"\\u12\"",
      "{\"a\":1,\"a\"}", String(repeating: "[", count: 100_000),
    ] {
      #expect(JSONPart(Data(text.utf8)) == nil, "\(text.prefix(20))")
    }
    #expect(JSONPart(Data([0x22, 0xFF, 0x22])) == nil)
  }
}

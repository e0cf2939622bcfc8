import Foundation
import Persist
@testable import PersistStudioSession
import Testing

@Suite("Rows of the studio's grid")
struct RowTests {
  @Test("Windows put together are the whole result, in its order, for any request", arguments: 0..<12)
  func windows(seed: Int) async throws {
    var random = Random(seed: UInt64(seed))
    let count = Int.random(in: 0...1400, using: &random)
    let sample = try SampleStore()
    let prices = (0..<count).map { _ in Int.random(in: 0...50, using: &random) }
    try sample.fill { context in
      for price in prices {
        let item = ManagedObject(entity: price % 3 == 0 ? "Special" : "Item", context: context)
        item["count"] = price
      }
    }
    let session = try sample.session()
    let limit = Int.random(in: 0...50, using: &random)
    let isAscending = Bool.random(using: &random)
    let context = ManagedObjectContext(sample.coordinator)
    let expected = try context.fetch(
      FetchRequest("Item", where: "count <= \(limit)", sortedBy: [.init("count", isAscending: isAscending)]))
    var keys: [String] = []
    let window = Int.random(in: 1...700, using: &random)
    while true {
      let answer = try await session.rows(
        "Item", "count <= \(limit)", columns: ["count"], start: keys.count, count: window,
        order: ("count", isAscending))
      #expect(answer.status == 200)
      let rows = answer.list("rows")
      keys += rows.compactMap { $0["key"] as? String }
      if rows.count < window { break }
    }
    #expect(keys == expected.map { String($0.objectID.primaryKey ?? 0) })
    let counted = try await session.post(
      "rows",
      ["entity": "Item", "text": "count <= \(limit)", "columns": [], "start": 0, "count": 0, "isCounting": true])
    #expect(counted.json["total"] as? Int == expected.count)
  }

  @Test("To-ones are shown by the name of the object, to-manys by the number of members, bytes not at all")
  func cells() async throws {
    let sample = try SampleStore()
    try sample.fill { context in
      let box = ManagedObject(entity: "Box", context: context)
      box["label"] = "Red"
      for number in 0..<3 {
        let item = ManagedObject(entity: "Item", context: context)
        item["name"] = "Item \(number)"
        item["box"] = number == 2 ? nil : box
        item["photo"] = number == 0 ? Data([1, 2, 3]) : nil
        item["price"] = Decimal(string: "12.340000000000000000001")
        item["place"] = ["street": "Long", "number": 7]
      }
    }
    let session = try sample.session()
    let items = try await session.rows("Item", "sort by name", columns: ["box", "photo", "price", "place"]).list("rows")
    let first = try #require(items.first?["cells"] as? [Any])
    #expect((first[0] as? [String: Any])?["name"] as? String == "Red")
    #expect((first[1] as? [String: Any])?["bytes"] as? Int == 3)
    #expect(first[2] as? String == "12.340000000000000000001")
    #expect(first[3] as? String == "number: 7, street: Long")
    let last = try #require(items.last?["cells"] as? [Any])
    #expect(last[0] is NSNull && last[1] is NSNull)
    let boxes = try await session.rows("Box", columns: ["things"]).list("rows")
    #expect(boxes.first?["cells"] as? [String] == ["2"])
  }

  @Test("Long texts are measured, not read; short ones beside them are shown")
  func longTexts() async throws {
    let sample = try SampleStore()
    try sample.fill { context in
      for length in [0, 10, 2001, 300_000] {
        let item = ManagedObject(entity: "Special", context: context)
        item["name"] = String(repeating: "x", count: length)
        item["why"] = "because \(length)"
        item["count"] = length
      }
    }
    let answer = try await sample.session().rows("Special", "sort by count", columns: ["name", "why"])
    let cells = answer.list("rows").compactMap { $0["cells"] as? [Any] }
    #expect(cells.map { $0[1] as? String } == [0, 10, 2001, 300_000].map { "because \($0)" })
    #expect(cells[1][0] as? String == "xxxxxxxxxx")
    #expect((cells[2][0] as? [String: Any])?["length"] as? Int == 2001)
    #expect((cells[3][0] as? [String: Any])?["length"] as? Int == 300_000)
    #expect(answer.data.count < 4000)
  }

  @Test(
    "An error in the typed text has its position there",
    arguments: [
      ("count < ", 7), ("where count < ", 13), ("  count == 'a' AND (", 20), ("count ~ 5", 6),
      ("name == 'where x' AND count ! 5", 28),
    ])
  func errorPlaces(text: String, column: Int) async throws {
    let answer = try await SampleStore().session().rows("Item", text)
    #expect(answer.status == 400)
    #expect(answer.error["name"] as? String == "invalidPredicate", "\(answer.text)")
    #expect(answer.error["column"] as? Int == column, "\(answer.text)")
  }

  @Test("An unknown property is named, so that the page can mark it")
  func unknownProperty() async throws {
    let answer = try await SampleStore().session().rows("Item", "box.size > 5")
    #expect(answer.status == 400)
    #expect(answer.error["property"] as? String != nil)
  }

  @Test("A request is explained with its SQL, the plan and missing indexes")
  func explanation() async throws {
    let sample = try SampleStore()
    let answer = try await sample.session().post(
      "explain", ["entity": "Item", "text": "count > 5 sort by weight", "columns": [], "start": 0, "count": 0])
    #expect(answer.list("statements").first?["sql"] is String)
    #expect(answer.list("missingIndexes").map { $0["attribute"] as? String } == ["weight"])
  }

  @Test("An export contains every row of the result, whole", arguments: ["csv", "jsonl"])
  func export(format: String) async throws {
    let sample = try SampleStore()
    try sample.fill { context in
      for number in 0..<450 {
        let item = ManagedObject(entity: "Item", context: context)
        item["name"] = String(repeating: "a\"b,\n", count: number == 7 ? 10_000 : 1) + "\(number)"
        item["count"] = number
      }
    }
    let parameters = [
      "entity": "Item", "text": "count < 440 sort by count desc", "columns": "count,name,box,tags", "format": format,
    ]
    let answer = try await sample.session().get("export", parameters)
    #expect(answer.status == 200)
    if format == "jsonl" {
      let lines = try answer.text.split(separator: "\n").map { line in
        try #require(try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
      }
      #expect(lines.map { $0["count"] as? Int } == (0..<440).reversed())
      #expect((lines[432]["name"] as? String)?.count == 50_001)
    } else {
      #expect(answer.text.hasPrefix("id,count,name,box,tags\n"))
      #expect(answer.text.matches(of: #/x-coredata:/#).count == 440)
    }
  }

  @Test("A look at the rows that begins after a change of the store contains it; one that began before stays as it was")
  func freshness() async throws {
    let sample = try SampleStore()
    func insert() throws { try sample.fill { _ = ManagedObject(entity: "Box", context: $0) } }
    try insert()
    let session = try sample.session()
    func count(_ look: String?, isFresh: Bool = false) async throws -> Int {
      var form: [String: Any] = ["entity": "Box", "text": "", "columns": [], "start": 0, "count": 10]
      form["isFresh"] = isFresh
      form["look"] = look
      return try await session.post("rows", form).list("rows").count
    }
    #expect(try await count(nil) == 1)
    #expect(try await count("first") == 1)
    try insert()
    #expect(try await count("first") == 1)
    #expect(try await count(nil) == 2)
    #expect(try await count("second") == 2)
    #expect(try await count("first", isFresh: true) == 1)
    #expect(try await count("third", isFresh: true) == 2)
    let export = try await session.get("export", ["entity": "Box", "columns": "label", "format": "jsonl"])
    #expect(export.text.split(separator: "\n").count == 2)
  }
}

@Suite("Long lists in the studio's grid")
struct LongListTests {
  @Test("Only a short list, or one whose length nobody knows, is awaited before the first rows are read")
  func patience() async throws {
    let sample = try SampleStore()
    let session = try sample.session()
    let entity = try session.store.context().entity(named: "Box")
    #expect(session.store.lastCount(of: entity) == nil)
    let counts = try await session.get("counts").json["counts"] as? [String: Int]
    #expect(session.store.lastCount(of: entity) == counts?["Box"])

    let all = FetchRequest("Box")
    #expect(StudioSession.patience(for: all, of: nil) > 0)
    #expect(StudioSession.patience(for: all, of: 1_000) > 0)
    #expect(StudioSession.patience(for: all, of: 1_000_000) == 0)
    let some = try FetchRequest("Box", where: "label == 'a'")
    #expect(StudioSession.patience(for: some, of: 1_000_000) > 0)
  }
}

/// Reproducible random numbers.
struct Random: RandomNumberGenerator {
  private var state: UInt64

  init(seed: UInt64) { state = seed &* 0x9E37_79B9_7F4A_7C15 &+ 1 }

  mutating func next() -> UInt64 {
    state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
    return (state ^ (state >> 33)) &* 0xFF51_AFD7_ED55_8CCD
  }
}

import Foundation
import Persist
import PersistOnlineMigrations
import PersistPostgreSQL
import PersistTestSupport
import Testing

@Suite("Columns and relationships with other content in each model", .needsServer)
struct OnlineValuesTests {
  private func versions(
    _ old: [AttributeDescription], _ new: [AttributeDescription]
  ) throws -> (old: ModelVersion, new: ModelVersion) {
    (
      try OnlineShop.version("1", EntityDescription("Item", attributes: old)),
      try OnlineShop.version("2", EntityDescription("Item", attributes: new))
    )
  }

  private func withExpanded(
    _ versions: (old: ModelVersion, new: ModelVersion),
    _ body: (URL, OnlineMigration, _ first: OnlineProgram, _ second: OnlineProgram) throws -> Void
  ) throws {
    try OnlineShop.withStore { url in
      let first = try OnlineProgram(versions.old, url)
      let migration = OnlineMigration(storeAt: url)
      try migration.expand(to: versions.new)
      try migration.backfill()
      let second = try OnlineProgram(versions.new, url)
      try body(url, migration, first, second)
      try first.close()
      try second.close()
    }
  }

  @Test(
    "A value that the old type can't represent is refused until the store is contracted",
    arguments: [
      (AttributeType.int32, AttributeType.int64, "3000000000", "-7"), (.int64, .decimal, "1.5", "12"),
      (.boolean, .int16, "2", "1"), (.int16, .double, "0.25", "300"), (.int32, .decimal, "12345678901", "5"),
    ])
  func valuesWithoutEqual(old: AttributeType, new: AttributeType, refused: String, accepted: String) throws {
    func value(_ text: String) throws -> any Sendable {
      switch new {
      case .decimal: try #require(Decimal(string: text))
      case .double: try #require(Double(text))
      default: try #require(Int(text))
      }
    }
    try withExpanded(versions([.init("size", old)], [.init("size", new)])) { url, migration, first, second in
      let item = try second.insert("Item", ["size": value(accepted)])
      try second.save()
      let known = try first.values("Item", "size")
      item["size"] = try value(refused)
      let error = #expect(throws: PersistenceError.self) { try second.save() }
      #expect(error?.code == .validationRule && error?.fix?.contains("contract") == true, "\(error as Any)")
      try #expect(first.values("Item", "size") == known)
      try first.close()
      try migration.contract()
      try second.save()
      let stored = try #require(second.all("Item").first?["size"])
      #expect("\(stored)" == refused)
      // The old column has gone, and the new one keeps its name until the next migration.
      let columns = try ForeignSQL.run(
        [
          """
          SELECT column_name FROM information_schema.columns \
          WHERE table_schema = current_schema() AND table_name = 'item' AND column_name LIKE 'size%'
          """
        ], at: url)
      #expect(columns.map { $0[0] } == ["size_2"])
    }
  }

  @Test("An object that programs with the old model don't see can have values that only the new types represent")
  func valuesOfUnknownObjects() throws {
    func version(_ name: String, isNew: Bool) throws -> ModelVersion {
      var entities = [EntityDescription("Item", attributes: [.init("size", isNew ? .int64 : .int16)])]
      if isNew { entities.append(EntityDescription("Novel", parent: "Item")) }
      return ModelVersion(name: name, model: try ManagedObjectModel(ModelDescription(entities: entities)))
    }
    try withExpanded((version("1", isNew: false), version("2", isNew: true))) { url, migration, first, second in
      try second.insert("Novel", ["size": 1 << 40])
      try second.save()
      try second.insert("Item", ["size": 1 << 40])
      #expect(throws: PersistenceError.self) { try second.save() }
      second.context.rollback()
      try #expect(first.all("Item").isEmpty)
      try second.close()
      try migration.abort()
      try migration.expand(to: version("2", isNew: true))
      try migration.backfill()
      let again = try OnlineProgram(version("2", isNew: true), url)
      try #expect(again.values("Item", "size") == ["\(1 << 40)"])
      try again.close()
    }
  }

  @Test("Statements by hand can use both columns of an attribute with two types")
  func plainSQL() throws {
    try withExpanded(
      versions(
        [.init("size", .int32, default: .integer(3))],
        [.init("size", .decimal, isOptional: false, default: .decimal(7))])
    ) { url, _, first, second in
      try ForeignSQL.run("INSERT INTO item (id, entity, size) VALUES (1001, 1, 5)", at: url)
      try ForeignSQL.run("INSERT INTO item (id, entity, size_2) VALUES (1002, 1, 6)", at: url)
      try ForeignSQL.run("INSERT INTO item (id, entity) VALUES (1003, 1)", at: url)
      try ForeignSQL.run("INSERT INTO item (id, entity, size) VALUES (1004, 1, NULL)", at: url)
      try #expect(first.values("Item", "size") == ["3", "5", "6", "nil"])
      try #expect(second.values("Item", "size") == ["3", "5", "6", "7"])
      try ForeignSQL.run("UPDATE item SET size = 8 WHERE size_2 = 5", at: url)
      try ForeignSQL.run("UPDATE item SET size_2 = 9 WHERE size = 6", at: url)
      try ForeignSQL.run("UPDATE item SET version = version + 1", at: url)
      try #expect(first.values("Item", "size") == ["3", "8", "9", "nil"])
      try #expect(second.values("Item", "size") == ["3", "7", "8", "9"])
      #expect(throws: (any Error).self) { try ForeignSQL.run("UPDATE item SET size_2 = 0.5", at: url) }
    }
  }

  @Test("Changes that one of the models couldn't represent are refused, each with its reason")
  func refusals() throws {
    let old: [AttributeDescription] = [
      .init("narrow", .int64), .init("exact", .float), .init("needed", .string),
      .init("free", .string, isOptional: false), .init("other", .string),
    ]
    let new: [AttributeDescription] = [
      .init("narrow", .int32), .init("exact", .double), .init("needed", .string, isOptional: false),
      .init("free", .string), .init("other", .date),
    ]
    let (first, second) = try versions(old, new)
    let plan = try OnlineShop.planOnly(first, second)
    let refused = plan.steps.filter { $0.way == .refused }
    #expect(Set(refused.compactMap(\.operation.property)) == ["narrow", "exact", "needed", "other"])
    for step in refused { #expect(step.reason?.hasSuffix(".") == true, "\(step)") }
    // One reason each.
    #expect(plan.refusals.count == 4, "\(plan)")
  }

  @Test("External storage can be switched on and off, and full texts are searched with either model")
  func externalStorageAndTexts() throws {
    var text = AttributeDescription("text", .string)
    text.fullTextSearch = .words
    let versions = try versions(
      [.init("photo", .binary), .init("film", .binary, allowsExternalStorage: true), text],
      [
        .init("photo", .binary, allowsExternalStorage: true), .init("film", .binary),
        {
          var stems = AttributeDescription("body", .string, renamingIdentifier: "text")
          stems.fullTextSearch = .stems
          return stems
        }(),
      ])
    try withExpanded(versions) { _, migration, first, second in
      func values(_ program: OnlineProgram) throws -> [Data?] {
        let item = try #require(program.all("Item").first)
        return [item["photo"] as? Data, item["film"] as? Data]
      }
      let (photo, film) = (Data([1, 2, 3]), Data([1, 1]))
      try first.insert("Item", ["photo": photo, "film": film, "text": "running"])
      try first.save()
      try #expect(values(second) == [photo, film])
      let item = try #require(second.all("Item").first)
      (item["photo"], item["film"]) = (film, nil)
      try second.save()
      try #expect(values(first) == [film, nil])
      try #expect(first.context.count("Item", matching: FetchPredicate("text MATCHTEXT 'running'")) == 1)
      try #expect(second.context.count("Item", matching: FetchPredicate("body MATCHTEXT 'runs'")) == 1)
      try first.close()
      try migration.contract()
      try #expect(values(second) == [film, nil])
    }
  }

  @Test("Programs notice conflicts about an attribute with two types")
  func conflicts() throws {
    try withExpanded(versions([.init("size", .int32)], [.init("size", .int64)])) { _, _, first, second in
      try first.insert("Item", ["size": 1])
      try first.save()
      let (old, new) = try (#require(first.all("Item").first), #require(second.all("Item").first))
      _ = (old["size"], new["size"])
      new["size"] = 2
      try second.save()
      old["size"] = 3
      let error = #expect(throws: PersistenceError.self) { try first.save() }
      #expect(error?.code == .mergeConflict, "\(error as Any)")
      first.context.rollback()
      try #expect(first.values("Item", "size") == ["2"])
    }
  }

  @Test("A second member is refused as long as programs have room for one")
  func secondMember() throws {
    func version(_ name: String, isMany: Bool) throws -> ModelVersion {
      try OnlineShop.version(
        name,
        EntityDescription(
          "Item",
          relationships: [
            isMany
              ? RelationshipDescription("boxes", toMany: "Box", inverse: "items", renamingIdentifier: "box")
              : RelationshipDescription("box", to: "Box", inverse: "items")
          ]),
        EntityDescription(
          "Box", attributes: [.init("label", .string)],
          relationships: [RelationshipDescription("items", toMany: "Item", inverse: isMany ? "boxes" : "box")]),
        EntityDescription("Crate", parent: "Box"))
    }
    try withExpanded((version("1", isMany: false), version("2", isMany: true))) { url, migration, first, second in
      let box = try first.insert("Box", ["label": "A"])
      try first.insert("Item")["box"] = box
      try first.save()
      let item = try #require(second.all("Item").first)
      let crate = try second.insert("Crate", ["label": "B"])
      item["boxes"] = RelationshipSet([try #require(second.all("Box").first { $0["label"] as? String == "A" }), crate])
      let error = #expect(throws: PersistenceError.self) { try second.save() }
      #expect(error?.code == .validationRule, "\(error as Any)")
      item["boxes"] = RelationshipSet([crate])
      try second.save()
      func label(seenBy program: OnlineProgram) throws -> String? {
        (try program.all("Item").first?["box"] as? ManagedObject)?["label"] as? String
      }
      try #expect(label(seenBy: first) == "B")
      // Another program removes the destination.
      first.context.delete(try #require(first.all("Crate").first))
      try first.save()
      try #expect(label(seenBy: first) == nil)
      try #expect(OnlineProgram.keys(second.all("Item").first?["boxes"]).isEmpty)
      try first.close()
      try migration.contract()
      let kept = try #require(second.all("Item").first)
      kept["boxes"] = RelationshipSet([
        try second.insert("Box", ["label": "C"]), try second.insert("Crate", ["label": "D"]),
      ])
      try second.save()
      try #expect(OnlineProgram.keys(second.all("Item").first?["boxes"]).count == 2)
    }
  }
}

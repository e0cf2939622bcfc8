#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  /// Objects with truth values, UUIDs and integers at their limits.
  enum ColumnTypeSample {
    static let uuids = ["00000000-0000-0000-0000-000000000001", "E621E1F8-C36C-495A-93FC-0C247A3E6E5F"]
      .compactMap(UUID.init(uuidString:))

    static func item(_ attributes: [AttributeDescription]) -> EntityDescription {
      EntityDescription(
        "Item", attributes: attributes,
        relationships: [
          .init("owner", to: "Item", inverse: "parts"), .init("parts", toMany: "Item", inverse: "owner"),
        ])
    }

    static let attributes: [AttributeDescription] = [
      .init("isActive", .boolean), .init("token", .uuid), .init("small", .int16), .init("rank", .int32),
      .init("large", .int64), .init("ratio", .double), .init("number", .int64),
    ]

    static func model(_ attributes: [AttributeDescription] = attributes) throws -> ManagedObjectModel {
      try ManagedObjectModel(ModelDescription(entities: [item(attributes)]))
    }

    static func withStore(
      of model: ManagedObjectModel, _ body: (URL, ManagedObjectContext) throws -> Void
    ) throws {
      try TestServer.withSchema { text in
        let url = try #require(URL(string: text))
        let coordinator = PersistentStoreCoordinator(model: model)
        let info = try coordinator.addStore(at: url)
        try body(url, ManagedObjectContext(coordinator))
        try coordinator.remove(info)
      }
    }

    static func types(_ url: URL, of table: String = "item") throws -> [String: String] {
      let rows = try ForeignSQL.run(
        """
        SELECT column_name, coalesce(domain_name, data_type) FROM information_schema.columns \
        WHERE table_schema = current_schema() AND table_name = '\(table)'
        """, at: url)
      return Dictionary(rows.map { ($0[0], $0[1]) }, uniquingKeysWith: { first, _ in first })
    }

    /// Rows of all limits, with and without values.
    static func fill(_ context: ManagedObjectContext, count: Int = 24) throws {
      var items: [ManagedObject] = []
      for number in 0..<count {
        let item = try context.make("Item", ["number": number])
        if number % 3 < 2 { item["isActive"] = number % 3 == 0 }
        if number % 4 > 0 { item["token"] = Self.uuids[number % 2] }
        if number % 5 > 0 { item["small"] = [Int16.min, -1, 0, .max][number % 4] }
        if number % 5 > 1 { item["rank"] = [Int32.min, 1, 0, .max][number % 4] }
        if number % 5 > 2 { item["large"] = [Int64.min, 1, 0, .max][number % 4] }
        if number % 5 < 4 { item["ratio"] = [0.5, 1, 0, 1e300][number % 4] }
        if number > 0 { item["owner"] = items[(number - 1) / 3] }
        items.append(item)
      }
      try context.save()
    }

    static func values(_ context: ManagedObjectContext) throws -> [String] {
      let names = Self.attributes.map(\.name)
      return try context.fetch(FetchRequest("Item", sortedBy: "number")).map { item in
        names.map { name in item[name].map { "\($0)" } ?? "nil" }.joined(separator: " ")
      }
    }

    static func reopened(_ url: URL, _ model: ManagedObjectModel) throws -> ManagedObjectContext {
      let coordinator = PersistentStoreCoordinator(model: model)
      try coordinator.addStore(at: url)
      return ManagedObjectContext(coordinator)
    }
  }
#endif

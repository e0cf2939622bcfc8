#if canImport(PersistPostgreSQL)
  import Foundation
  @testable import PersistPostgreSQL
  import PersistTestSupport
  import Testing

  @testable import Persist
  @testable import PersistCore
  @testable import PersistModel

  @Suite("Conditions on texts that a server evaluates in part", .needsServer)
  struct ServerNarrowingTests {
    private static let texts = [
      "tea", "Tea", "TEA", "green tea", "Teapot", "steak", "té", "Té", "te\u{301}", "K", "k", "\u{212A}", "ſ", "s", "S",
      "straße", "STRASSE", "strasse", "İ", "i", "I", "ı", "ﬁn", "fin", "FIN", "50%", "50", "a_b", "a\\b", "axb", "a*b",
      "a?b", "a\r\nb", "a\nb", "a\r", "", " ", "Σίσυφος", "ΣΊΣΥΦΟΣ", "日本", "ex", "\u{7F}", "~", "Zebra",
    ]

    private static let formats = [
      "text ==[c] %@", "text ==[d] %@", "text ==[cd] %@", "text !=[c] %@", "text CONTAINS[c] %@",
      "text CONTAINS[cd] %@", "text BEGINSWITH[c] %@", "text BEGINSWITH[cd] %@", "text ENDSWITH[c] %@",
      "text ENDSWITH[d] %@", "text LIKE %@", "text LIKE[c] %@", "text LIKE[cd] %@", "NOT text LIKE %@",
      "NOT (text ==[c] %@)", "NOT (text CONTAINS[cd] %@)", "text <[c] %@", "text >=[cd] %@", "uppercase:(text) == %@",
      "lowercase:(text) == %@", "canonical:(text) == %@", "ANY others.text ==[c] %@", "ANY others.text LIKE[cd] %@",
      "ALL others.text CONTAINS[c] %@", "owner.text ==[cd] %@", "NOT (owner.text LIKE %@)",
      "text ==[c] %@ OR number == 3", "text ==[c] %@ AND number > 3", "text IN[cd] {%@, 'k'}", "text MATCHES[c] %@",
    ]

    private static let patterns = [
      "*", "?", "t*", "*A", "?e?", "a\\*b", "a\\?b", "a?b", "a_b", "50%", "*\r\nb", "a??b", "\\\\",
    ]

    private func withStore(_ body: (ManagedObjectContext, PostgreSQLStore) throws -> Void) throws {
      let model = try ManagedObjectModel(
        ModelDescription(entities: [
          EntityDescription(
            "Item", attributes: [AttributeDescription("number", .int64), AttributeDescription("text", .string)],
            relationships: [
              RelationshipDescription("others", toMany: "Item", inverse: "owner"),
              RelationshipDescription("owner", to: "Item", inverse: "others"),
            ])
        ]))
      try TestServer.withSchema { url in
        let coordinator = PersistentStoreCoordinator(model: model)
        let info = try coordinator.addStore(.postgreSQL(url))
        let context = ManagedObjectContext(coordinator)
        var items: [ManagedObject] = []
        for (number, text) in (Self.texts.map(Optional.some) + [nil]).enumerated() {
          let item = try context.make("Item", ["number": Int64(number), "text": text])
          if number > 0 { item["owner"] = items[(number - 1) / 3] }
          items.append(item)
        }
        try context.save()
        let store = try #require(coordinator.openStores.first as? PostgreSQLStore)
        try body(context, store)
        try coordinator.remove(info)
      }
    }

    @Test("The results are those of memory, whatever the texts")
    func results() throws {
      try withStore { context, _ in
        let all = try context.fetch(FetchRequest("Item", sortedBy: "number"))
        var differences: [String] = []
        for format in Self.formats {
          let isExpression = format.contains("MATCHES")
          for text in Self.texts + Self.patterns where !(isExpression && text.contains { "*?\\".contains($0) }) {
            let predicate = try FetchPredicate(format: format, argumentArray: [text])
            let wanted = try all.filter { try predicate.evaluate(with: $0) }.map(\.objectID)
            var request = FetchRequest<ManagedObject>("Item", sortedBy: "number")
            request.predicate = predicate
            let found = try context.fetch(request).map(\.objectID)
            if found != wanted { differences.append("\(predicate): \(found.count) instead of \(wanted.count)") }
          }
        }
        #expect(differences == [])
      }
    }

    @Test("The server excludes rows of ASCII texts that don't meet the condition")
    func narrowing() throws {
      try withStore { context, store in
        let entity = store.model.entities[0]
        let others = Self.texts.count { $0.utf8.contains { $0 >= 0x80 } || $0.contains { $0.utf8.contains(13) } }
        for (format, exact) in [
          ("text ==[c] 'TEA'", 3), ("text LIKE '50?'", 1), ("text CONTAINS[cd] 'tea'", 6), ("NOT (text LIKE '*')", 1),
          ("uppercase:(text) == 'TEA'", 3), ("text ENDSWITH[c] 'TEA'", 4),
        ] {
          let predicate = try FetchPredicate(format: format, argumentArray: nil)
          let division = try store.divide(predicate, over: entity)
          #expect(division.stored == nil && division.rest != nil)
          var query = RowQuery(entity: entity)
          query.narrowing = division.rest
          let count = try store.count(query)
          #expect(count <= exact + others && count >= exact, "\(format): \(count)")
          #expect(count < Self.texts.count, "\(format)")
        }
      }
    }
  }
#endif

import Foundation
import Persist
import PersistInspection
import Testing

@Suite("Marks of properties")
struct PropertyMarkTests {
  @Test("Unique, indexed and full-text attributes are marked, inherited ones too")
  func marks() throws {
    let model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Work",
          attributes: [
            AttributeDescription("code", .string), AttributeDescription("title", .string),
            AttributeDescription("year", .int32), AttributeDescription("plain", .string),
          ],
          uniquenessConstraints: [["code"], ["title", "year"]], indexes: [FetchIndexDescription("byYear", on: "year")]),
        EntityDescription("Book", parent: "Work"),
      ]))
    let book = try model.entity(named: "Book")
    let words = Dictionary(
      uniqueKeysWithValues: book.properties.map { ($0.name, PropertyMarks(of: $0, in: book).words) })
    #expect(
      words == [
        "code": ["unique"], "title": ["unique with year"], "year": ["unique with title", "indexed"], "plain": [],
      ])
  }
}

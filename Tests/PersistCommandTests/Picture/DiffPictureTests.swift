import Foundation
import PersistTestSupport
import Testing

#if canImport(FoundationXML)
  import FoundationXML
#endif

@testable import PersistModel
@testable import PersistInspection
@testable import Persist

@Suite("The picture of a difference")
struct DiffPictureTests {
  private func version(_ name: String, _ entities: [EntityDescription]) throws -> ModelVersion {
    ModelVersion(name: name, model: try ManagedObjectModel(ModelDescription(entities: entities)))
  }

  private func picture(_ old: ModelVersion, _ new: ModelVersion) throws -> ModelPicture {
    ModelPicture(from: old, to: new, operations: try MigrationPlan(from: old, to: new).steps.map(\.operation))
  }

  /// The boxes of entities, each as a rectangle, in the order of the file.
  private func boxes(_ svg: String) throws -> [(title: String, x: Double, y: Double, width: Double, height: Double)] {
    _ = try XMLDocument(xmlString: svg)
    let shape = /translate\((\S+) (\S+)\)">\s*<title>([^<]*)<\/title>\s*<rect class="box" width="(\S+)" height="(\S+)"/
    return try svg.matches(of: shape).map { match in
      let numbers = try [match.1, match.2, match.4, match.5].map { try #require(Double($0)) }
      return (String(match.3), numbers[0], numbers[1], numbers[2], numbers[3])
    }
  }

  @Test("Added, removed, changed and unchanged entities, properties and relationships are shown")
  func changes() throws {
    let old = try version(
      "1",
      [
        EntityDescription("Gone", attributes: [.init("a", .string)]),
        EntityDescription(
          "Item", attributes: [.init("colour", .string), .init("amount", .int16), .init("kept", .string)],
          relationships: [.init("shop", to: "Shop", inverse: "items")]),
        EntityDescription("Shop", relationships: [.init("items", toMany: "Item", inverse: "shop")]),
      ])
    let new = try version(
      "2",
      [
        EntityDescription(
          "Item",
          attributes: [
            .init("quantity", .int32, renamingIdentifier: "amount"), .init("kept", .string), .init("price", .decimal),
          ],
          relationships: [
            .init("shop", to: "Shop", inverse: "items"), .init("tags", toMany: "Tag", inverse: "items"),
          ]),
        EntityDescription("Shop", relationships: [.init("items", toMany: "Item", inverse: "shop")]),
        EntityDescription("Tag", relationships: [.init("items", toMany: "Item", inverse: "tags")]),
      ])
    let picture = try picture(old, new)
    let changes = Dictionary(uniqueKeysWithValues: picture.boxes.map { ($0.title, $0.change) })
    #expect(changes == ["Gone": .removed, "Item": .changed, "Shop": .unchanged, "Tag": .added])
    let item = try #require(picture.boxes.first { $0.title == "Item" })
    let lines = Dictionary(uniqueKeysWithValues: item.lines.map { ($0.name, $0) })
    #expect(lines["colour"]?.change == .removed)
    #expect(lines["price"]?.change == .added)
    #expect(lines["tags"]?.change == .added)
    #expect(lines["quantity"]?.notes == ["was amount", "int16 → int32"])
    #expect(lines["kept"]?.change == .unchanged)
    let links = Dictionary(uniqueKeysWithValues: picture.links.map { ($0.title, $0.change) })
    #expect(links == ["Item.shop and Shop.items": .unchanged, "Item.tags and Tag.items": .added])
    let svg = PictureDrawing(picture).svg
    for text in ["1 → 2", "1 entity added, 1 entity removed, 1 entity changed, 1 entity unchanged", "was amount"] {
      #expect(svg.contains(">\(text)<"), "\(text)")
    }
    #expect(svg.contains("prefers-color-scheme: dark"))
  }

  @Test(
    "A relationship and an inverse that its destination inherits are one link, whatever the order of their names",
    arguments: [["Base", "Box", "Sub"], ["Z", "M", "A"], ["B", "A", "C"]])
  func inheritedInverse(names: [String]) throws {
    let (base, box, sub) = (names[0], names[1], names[2])
    let old = try version("1", [EntityDescription(base), EntityDescription(sub, parent: base), EntityDescription(box)])
    let new = try version(
      "2",
      [
        EntityDescription(base, relationships: [.init("box", to: box, inverse: "contents")]),
        EntityDescription(sub, parent: base),
        EntityDescription(box, relationships: [.init("contents", toMany: sub, inverse: "box")]),
      ])
    let pictures: [(ModelPicture, ModelPicture.Change)] = try [
      (ModelPicture(of: new), .unchanged), (picture(old, new), .added), (picture(new, old), .removed),
    ]
    for (picture, change) in pictures {
      let links = picture.links.filter { $0.kind == .relationship }
      #expect(links.map(\.change) == [change])
      let link = try #require(links.first)
      #expect(Set([link.source, link.target].map { picture.boxes[$0.box].title }) == [base, box])
      #expect(link.source.line != nil && link.target.line != nil)
      #expect(picture.links.count == 2)
    }
  }

  @Test("A version compared with itself shows only unchanged elements")
  func same() throws {
    let shop = try version("1", [EntityDescription("Item", attributes: [.init("a", .string)])])
    #expect(try picture(shop, shop).boxes.map(\.change) == [.unchanged])
    let empty = try version("0", [])
    #expect(try picture(empty, empty).boxes.isEmpty)
    _ = try XMLDocument(xmlString: PictureDrawing(picture(empty, empty)).svg)
  }

  @Test("Names are escaped, whatever they contain")
  func escaping() throws {
    let wild = "<b>&\"'\u{1}]]>日本語"
    let old = try version(wild, [EntityDescription("Item", attributes: [.init("a", .string)])])
    let new = try version(
      "2", [EntityDescription("Item", attributes: [.init("a", .string)]), EntityDescription("Émoji")])
    let svg = try PictureDrawing(picture(old, new)).svg
    let document = try XMLDocument(xmlString: svg)
    let title = try document.nodes(forXPath: "/*/*[local-name()='title']").first?.stringValue
    #expect(title == "<b>&\"'\u{FFFD}]]>日本語 → 2")
    #expect(!svg.contains("<b>"))
  }

  @Test("Of eighty entities none covers another, and all are within the picture")
  func large() throws {
    func entities(_ names: Range<Int>, more: Int) -> [EntityDescription] {
      names.map { number in
        var relationships: [RelationshipDescription] = []
        for other in names where other % 7 == number % 7 && other != number && (other + number) % 5 == 0 {
          relationships.append(
            .init("to\(other)", toMany: "Entity\(other)", inverse: "to\(number)"))
        }
        return EntityDescription(
          "Entity\(number)",
          attributes: (0..<(number % 9 + (number % 4 == 0 ? more : 0))).map { .init("a\($0)", .string) },
          relationships: relationships)
      }
    }
    let picture = try picture(version("1", entities(0..<76, more: 0)), version("2", entities(4..<84, more: 3)))
    #expect(picture.boxes.count == 84)
    let svg = PictureDrawing(picture).svg
    let found = try boxes(svg)
    #expect(found.count == 84)
    for (index, one) in found.enumerated() {
      for other in found[(index + 1)...] {
        let isApart = one.x + one.width <= other.x || other.x + other.width <= one.x
          || one.y + one.height <= other.y || other.y + other.height <= one.y
        #expect(isApart, "\(one.title) and \(other.title)")
      }
    }
    let whole = try #require(svg.firstMatch(of: /<svg [^>]*width="(\S+)" height="(\S+)"/))
    let width = try #require(Double(whole.1))
    let height = try #require(Double(whole.2))
    #expect(found.allSatisfy { $0.x >= 0 && $0.y >= 0 && $0.x + $0.width <= width && $0.y + $0.height <= height })
    // Neither very wide nor very tall.
    #expect(width / height > 0.4 && width / height < 4, "\(width) by \(height)")
    #expect(PictureDrawing(picture).svg == svg)
  }

  @Test("persist diff --svg writes the picture in addition to its output")
  func command() throws {
    let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld").path
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("Shop.svg")
      let outcome = try Command.run("diff", shop, "--svg", file.path, "--json")
      #expect(outcome.status == 0)
      try #expect(outcome.json()["way"] as? String == "inPlace")
      _ = try XMLDocument(xmlString: String(contentsOf: file, encoding: .utf8))
      let refused = try Command.run("diff", shop, "--svg", folder.appendingPathComponent("no/Shop.svg").path)
      #expect(refused.status == 1)
      #expect(refused.messages.contains("can't be written"))
    }
  }

  @Test("persist diagram draws the current version of a model, or the model of a store, with every property")
  func diagram() throws {
    let shop = PackageFolder.models.appendingPathComponent("Shop.xcdatamodeld")
    try withTemporaryFolder { folder in
      let file = folder.appendingPathComponent("Shop.svg")
      #expect(try Command.run("diagram", shop.path, "--svg", file.path).status == 0)
      let model = try XMLDocument(xmlString: String(contentsOf: file, encoding: .utf8)).rootElement()
      let text = try #require(model?.stringValue)
      for entity in try ManagedObjectModel(contentsOf: shop).entities {
        #expect(text.contains(entity.name))
        for property in entity.properties { #expect(text.contains(property.name), "\(entity.name).\(property.name)") }
      }
      #expect(text.contains("Shop 3") && text.contains("9 entities") && !text.contains("9 entities unchanged"))
      let store = folder.appendingPathComponent("Shop.sqlite").path
      _ = try Command.run("fill", store, "--models", shop.path, "--version", "Shop", "--rows", "1")
      #expect(try Command.run("diagram", store, "--svg", file.path).status == 0)
      #expect(try String(contentsOf: file, encoding: .utf8).contains("amount"))
      #expect(try Command.run("diagram", store, "--svg", file.path, "--version", "Shop").status == 2)
      #expect(try Command.run("diagram", folder.path + "/nothing", "--svg", file.path).status == 1)
    }
  }
}

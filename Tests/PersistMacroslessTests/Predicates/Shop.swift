import Foundation
import Persist
import PersistMacrosless

/// Goods on shelves in rooms, with labels.
enum Shop {
  static func context(_ store: URL) throws -> ManagedObjectContext {
    let model = try ManagedObjectModel {
      EntityDescription("Good", className: "Good") {
        AttributeDescription("name", .string)
        AttributeDescription("note", .string)
        AttributeDescription("quantity", .int32)
        AttributeDescription("reserved", .int32)
        AttributeDescription("price", .decimal)
        AttributeDescription("rank", .int16)
        AttributeDescription("grade", .int16)
        AttributeDescription("madeAt", .date)
        RelationshipDescription("shelf", to: "Shelf", inverse: "goods")
        RelationshipDescription("labels", toMany: "Label", inverse: "goods")
      }
      EntityDescription("Shelf", className: "Shelf") {
        AttributeDescription("name", .string)
        RelationshipDescription("goods", toMany: "Good")
        RelationshipDescription("room", to: "Room", inverse: "shelves")
      }
      EntityDescription("Room", className: "Room") {
        AttributeDescription("number", .int16)
        RelationshipDescription("shelves", toMany: "Shelf")
      }
      EntityDescription("Label", className: "Label") {
        AttributeDescription("text", .string)
        RelationshipDescription("goods", toMany: "Good")
      }
    }
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addStore(at: store)
    return ManagedObjectContext(
      coordinator,
      classes: ["Good": Good.self, "Shelf": Shelf.self, "Room": Room.self, "Label": Label.self])
  }

  /// Creates the goods without saving them.
  static func fill(_ context: ManagedObjectContext) throws {
    let (drinks, food) = (Shelf(context: context), Shelf(context: context))
    (drinks.name, food.name) = ("Drinks", "Food")
    let room = Room(context: context)
    room.number = 7
    drinks.room = room
    let (hot, green) = (Label(context: context), Label(context: context))
    (hot.text, green.text) = ("hot", "green")
    func make(
      _ name: String, _ quantity: Int, reserved: Int, _ price: Decimal?, _ shelf: Shelf?, _ labels: [Label] = [],
      note: String? = nil
    ) {
      let good = Good(context: context)
      (good.name, good.quantity, good.reserved) = (name, quantity, reserved)
      (good.price, good.shelf, good.note) = (price, shelf, note)
      good.madeAt = Date(timeIntervalSinceReferenceDate: Double(quantity))
      good.grade = name == "Tea" ? 2 : 1
      good.labels.insert(contentsOf: labels)
    }
    make("Tea", 3, reserved: 1, 4.5, drinks, [hot, green], note: "very hot!")
    make("Coffee", 12, reserved: 0, 8, drinks, [hot])
    make("Bread", 2, reserved: 2, 3, food)
    make("Salt", 100, reserved: 5, nil, nil)
  }
}

final class Good: ManagedObject {
  @Attribute("name") var name: String
  @Attribute("note") var note: String?
  @Attribute("quantity") var quantity: Int
  @Attribute("reserved") var reserved: Int
  @Attribute("price") var price: Decimal?
  @Attribute("rank") var rank: Int16
  @Attribute("grade") var grade: UInt8
  @Attribute("madeAt") var madeAt: Date?
  @Relationship("shelf") var shelf: Shelf?
  @Relationship("labels") var labels: RelationshipSet<Label>

  private static let titleCount = LockProtected(0)

  static var titleReads: Int {
    get { titleCount.withLock { $0 } }
    set { titleCount.withLock { $0 = newValue } }
  }

  var title: String {
    Self.titleReads += 1
    return name
  }

  var shelfName: String? { shelf?.name }
  var isShort: Bool { name.count < 5 }
  var priceAndQuantity: String { "\(price ?? 0) \(quantity)" }
  var constant: Int { 1 }
  var firstLabel: String? { labels.first?.text }
}

final class Shelf: ManagedObject {
  @Attribute("name") var name: String
  @Relationship("goods") var goods: RelationshipSet<Good>
  @Relationship("room") var room: Room?
}

final class Room: ManagedObject {
  @Attribute("number") var number: Int
  @Relationship("shelves") var shelves: RelationshipSet<Shelf>
}

final class Label: ManagedObject {
  @Attribute("text") var text: String
  @Relationship("goods") var goods: RelationshipSet<Good>
}

extension Int {
  var magnitudeAsInt: Int { Int(magnitude) }
}

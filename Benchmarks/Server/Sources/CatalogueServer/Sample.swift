import Foundation
import Persist
import PersistMacrosless

/// The content of the file before a run: equal for every contestant.
enum Sample {
  static let categories = 200
  static let items = 20_000
  static let notesPerItem = 3

  /// Creates the file.
  static func fill(_ file: URL) throws {
    let catalogue = try PersistCatalogue(file, synchronous: "NORMAL")
    let context = catalogue.container.newContext()
    let categories = (0..<categories).map { number in
      let category = Category(context: context)
      (category.name, category.position) = ("Category \(number)", number)
      return category
    }
    for number in 0..<items {
      let item = Item(context: context)
      item.id = id(number)
      item.name = name(number)
      item.price = Double(number % 997) + 0.25
      item.quantity = number % 100
      item.added = Date(timeIntervalSinceReferenceDate: 700_000_000 + Double(number) * 60)
      item.category = categories[number * 7 % Self.categories]
      for other in 0..<notesPerItem {
        let note = Note(context: context)
        note.written = 1_700_000_000 + number * notesPerItem + other
        note.author = "Author \((number + other) % 50)"
        note.text = "Note \(other) about item \(number): keep it dry, and away from direct light."
        note.item = item
      }
    }
    try context.save()
    try catalogue.close()
  }

  /// The identifier of an item, which clients can compute from its number.
  private static func id(_ number: Int) -> UUID {
    let text = "00000000-0000-4000-8000-" + padded(String(number, radix: 16, uppercase: true), to: 12)
    return UUID(uuidString: text) ?? UUID()
  }

  private static func name(_ number: Int) -> String { "Item-" + padded(String(number), to: 6) }

  private static func padded(_ text: String, to width: Int) -> String {
    String(repeating: "0", count: width - text.count) + text
  }
}

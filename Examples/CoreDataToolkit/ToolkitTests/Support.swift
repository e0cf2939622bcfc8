import CoreData
import XCTest

@testable import CoreDataToolkit

class StackTestCase: XCTestCase {
  var stack: CoreDataStack!
  var context: NSManagedObjectContext { stack.viewContext }

  override func setUpWithError() throws {
    try super.setUpWithError()
    let url = FileManager.default.temporaryDirectory.appendingPathComponent("\(UUID().uuidString).sqlite")
    stack = try CoreDataStack(container: ToolkitContainer(name: "Demo", model: DemoModel.model, kind: .onDisk(url)))
  }

  override func tearDownWithError() throws {
    try stack?.destroy()
    stack = nil
    try super.tearDownWithError()
  }

  @discardableResult
  func fill(in context: NSManagedObjectContext? = nil) throws -> Shop {
    let context = context ?? self.context
    let shop = Shop(name: "corner", context: context)
    shop.rating = 4
    for (index, title) in ["Tea", "Bread", "milk"].enumerated() {
      let product = Product(context: context)
      product.sku = ["a", "b", "c"][index]
      product.title = title
      product.price = NSDecimalNumber(value: Double(index) * 3 + 1)
      product.stock = NSNumber(value: index + 1)
      product.shop = shop
    }
    let note = Note(context: context)
    note.text = "Good stuff"
    let tea = shop.products.first { $0.sku == "a" }!
    tea.addToNotes(note)
    try context.save()
    return shop
  }
}

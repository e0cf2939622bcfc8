import Foundation
import Persist
import PersistDocuments

/// Another process that saves a document again and again, to be killed at any moment.
///
/// `DocumentRunner FILE json|xml` sets the round of all twenty objects with each save, and prints the round afterward.
@main
struct DocumentRunner {
  static func main() throws {
    let arguments = CommandLine.arguments
    guard arguments.count == 3 else { exit(2) }
    let url = URL(fileURLWithPath: arguments[1])
    let model = try ManagedObjectModel(
      ModelDescription(entities: [
        EntityDescription(
          "Item", attributes: [AttributeDescription("round", .int64), AttributeDescription("text", .string)])
      ]))
    let coordinator = PersistentStoreCoordinator(model: model)
    try coordinator.addDocument(DocumentFile(at: url, format: arguments[2] == "xml" ? .xml : .json))
    let context = ManagedObjectContext(coordinator)
    var items = try context.fetch(FetchRequest<ManagedObject>("Item"))
    while items.count < 20 { items.append(try context.create("Item")) }
    var round = items.compactMap { $0["round"] as? Int }.max() ?? 0
    while true {
      round += 1
      for item in items {
        item["round"] = round
        item["text"] = String(repeating: "\(round) ", count: 500)
      }
      try context.save()
      FileHandle.standardOutput.write(Data("\(round)\n".utf8))
    }
  }
}

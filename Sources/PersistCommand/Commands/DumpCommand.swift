import ArgumentParser
import Foundation
import Persist

/// `persist dump`: every object of a store.
struct DumpCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dump", abstract: "Show every object with its attributes and relationships. Never writes.")

  @OptionGroup var arguments: StoreArguments

  @Option(help: "Only objects of this entity; those of its subentities don't count.")
  var entity: String?

  func run() throws {
    let contents = try arguments.contents()
    var entities = contents.model.entities.sorted { $0.name < $1.name }
    if let entity { entities = [try contents.model.entity(named: entity)] }
    var output = StandardOutput()
    var json = JSONText()
    for entity in entities {
      let properties = DumpedProperties(entity)
      let words = ObjectText(properties)
      try contents.forEachObject(of: entity) { object in
        if arguments.json {
          json.reset()
          try json.value(object, properties: properties)
          json.newLine()
          try output.write(json)
        } else {
          try output.write(words.text(object) + "\n")
        }
      }
    }
    try output.flush()
  }
}

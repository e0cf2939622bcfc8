import ArgumentParser
import Foundation
import Persist
import PersistTools

/// `persist dump`: every object of a store.
struct DumpCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "dump", abstract: "Show every object with its attributes and relationships. Never writes.")

  @OptionGroup var arguments: StoreArguments

  @Option(help: "Only objects of this entity, without those of its subentities.")
  var entity: String?

  func run() throws {
    let contents = try arguments.contents()
    var entities = contents.model.entities.sorted { $0.name < $1.name }
    if let entity { entities = [try contents.model.entity(named: entity)] }
    var output = ObjectOutput(asJSON: arguments.json)
    var bar = ProgressBar("dumping", besideOutput: true)
    defer { bar.finish() }
    let total = bar.isShown ? try entities.reduce(0) { try $0 + contents.count(of: $1) } : 0
    var done = 0
    for entity in entities {
      try contents.forEachObject(of: entity) { object in
        try output.write(object)
        done += 1
        if done % 1000 == 0 { bar.show(Double(done) / Double(max(total, 1)), detail: "\(done) of \(total)") }
      }
    }
    try output.flush()
  }
}

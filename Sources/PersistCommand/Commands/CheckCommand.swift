import ArgumentParser
import Foundation
import Persist
import PersistTools
import PersistInspection

/// `persist check`: checks a store for damage.
struct CheckCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "check",
    abstract: "Look for damage in the file and in the object graph. Writes only with --repair.",
    discussion: "Exits with status 3 if there is any damage.")

  @OptionGroup var arguments: StoreArguments

  @Flag(
    help: """
      First repair what has only one possible repair: key counters, stored entity numbers, optional relationships to \
      missing rows, full-text indexes, and files without a row.
      """)
  var repair = false

  func run() throws {
    let registry = try arguments.registry()
    if repair {
      let file = try StoreArgument.file(
        arguments.store, "A store to repair", fix: "Copy it to a file with 'persist copy', and repair the copy.")
      for repair in try StoreRepair.repair(storeAt: file, registry: registry) {
        StandardError.print("repaired: \(repair.words)")
      }
    }
    var output = StandardOutput()
    var json = JSONText()
    var (count, repairable) = (0, 0)
    // Problems are written as they are found, because there may be as many as there are rows.
    try StoreLocation(arguments.url).check(registry: registry) { problem in
      if StoreRepair.repairableKinds.contains(problem.kind) { repairable += 1 }
      guard !problem.isHarmless else {
        StandardError.print(problem.words)
        return
      }
      count += 1
      guard arguments.json else { return try output.write(problem.words + "\n") }
      json.reset()
      json.value(problem)
      try output.write((count == 1 ? #"{"ok": false, "problems": ["# : ",\n") + json.string)
    }
    if arguments.json {
      try output.write(count == 0 ? #"{"ok": true, "problems": []}"# + "\n" : "]}\n")
    } else {
      try output.write(count == 0 ? "ok\n" : Measure.count(count, "problem") + "\n")
    }
    try output.flush()
    if repairable > 0, !repair, !StoreArgument.isServer(arguments.store) {
      StandardError.print(
        "'persist check --repair' may fix \(repairable) of these problems: those that have only one possible repair.")
    }
    if count > 0 { throw Failure.found }
  }
}

extension StoreProblem {
  /// The problem in words, with its place.
  var words: String {
    let row = [entity, pk.map(String.init)].compactMap { $0 }.joined(separator: " ")
    let place = row + (property.map { ".\($0)" } ?? "")
    return "\(kind.name.camelCaseWords)\(place.isEmpty ? "" : " at \(place)"): \(detail)"
  }
}

extension StoreRepair.Repair {
  fileprivate var words: String {
    let place = [entity, property].compactMap { $0 }.joined(separator: ".")
    let what = [.orphanFile, .unfinishedWork].contains(kind) ? "file" : "row"
    return "\(kind.name.camelCaseWords)\(place.isEmpty ? "" : " at \(place)"): \(Measure.count(count, what))"
  }
}

extension JSONText {
  fileprivate mutating func value(_ problem: StoreProblem) {
    object {
      $0.field("kind", problem.kind.name)
      $0.field("entity", problem.entity)
      $0.field("pk", problem.pk)
      $0.field("property", problem.property)
      $0.field("detail", problem.detail)
    }
  }
}

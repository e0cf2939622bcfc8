import ArgumentParser
import Foundation
import Persist
import PersistInspection

/// `persist parked`: what migrations parked in a store.
struct ParkedCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "parked", abstract: "Show what migrations parked in a store, or purge it.",
    discussion: """
      A migration parks values that the new version has no place for, and a later one restores them. Only --purge \
      writes: it deletes for good what is selected.

        persist parked Shop.sqlite
        persist parked Shop.sqlite --purge --property Item.quantity
        persist parked Shop.sqlite --purge --days 90
      """)

  @Argument(help: "The store: a file, or postgresql://USER@HOST/DATABASE?schema=NAME.")
  var store: String

  @Flag(help: "Delete what is selected, everything by default.")
  var purge = false

  @Option(help: "Select only this entity, or only this property: ENTITY or ENTITY.PROPERTY.")
  var property: String?

  @Option(help: "Select only what has been parked for this number of days.")
  var days: Double?

  @OptionGroup var common: OutputArguments

  func validate() throws {
    if let days, !(days >= 0 && days.isFinite) { throw ValidationError("--days needs a number that isn't negative.") }
  }

  func run() throws {
    let url = try StoreArgument.url(store)
    let names = property.map { $0.split(separator: ".", maxSplits: 1).map(String.init) } ?? []
    let (entity, name) = (names.first, names.count > 1 ? names[1] : nil)
    let date = days.map { Date(timeIntervalSinceNow: -$0 * 24 * 60 * 60) }
    let contents =
      purge
      ? try PersistentStoreCoordinator.purgeParkedContents(at: url, of: entity, property: name, parkedBefore: date)
      : try PersistentStoreCoordinator.parkedContents(at: url).filter { content in
        (entity == nil || content.entity == entity) && (name == nil || content.property == name)
          && (date.map { (content.date ?? .distantPast) < $0 } ?? true)
      }
    if common.json {
      try StandardOutput.print { $0.field(purge ? "purged" : "parked", parked: contents) }
    } else if contents.isEmpty {
      let selection = property != nil || days != nil ? " with this selection" : ""
      try StandardOutput.print(purge ? "Nothing to purge\(selection)." : "Nothing is parked\(selection).")
    } else {
      try StandardOutput.print((purge ? ["purged:"] : []) + contents.map(\.line))
    }
  }
}

extension StandardOutput {
  fileprivate static func print(_ lines: [String]) throws { try print(lines.joined(separator: "\n")) }
}

extension ParkedContent {
  /// The content in a line.
  var line: String {
    let since = date.map { ", since \(DateText.iso8601($0))" } ?? ""
    return "\(place)  \(amount), of \(ModelVersion.quoted(version))\(since)"
  }
}

extension JSONText {
  /// A list of what is parked.
  mutating func field(_ key: String, parked contents: [ParkedContent]) {
    field(key, of: contents) { json, content in
      json.object {
        $0.field("entity", content.entity)
        $0.field("property", content.property)
        $0.field("kind", content.kind.rawValue)
        $0.field("version", content.version)
        $0.field("count", content.count)
        if let date = content.date { $0.field("since", DateText.iso8601(date)) }
      }
    }
  }
}

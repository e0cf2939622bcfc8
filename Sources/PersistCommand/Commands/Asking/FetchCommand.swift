import ArgumentParser
import Foundation
import Persist
import PersistTools
import PersistInspection

/// `persist fetch`: the objects that a request finds.
struct FetchCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "fetch", abstract: "Show the objects that a request finds, in its order. Never writes.",
    discussion: """
      A request is one line, in quotation marks:

        persist fetch Shop.sqlite "Item where price < 5 and category.name == 'Tea' sort by name desc limit 20"

      Predicates are in the format of NSPredicate. With --columns, only these values are shown; a column may be a path \
      over to-one relationships, such as category.name.
      """)

  @OptionGroup var arguments: StoreArguments

  @Argument(help: "ENTITY [where PREDICATE] [sort by KEY [desc], …] [limit N] [offset N]")
  var request: String

  @Option(help: "Show only the values of these properties, separated by commas.")
  var columns: String?

  @Flag(help: "Print comma-separated values, with a line of names; without --columns as 'persist export' does.")
  var csv = false

  func validate() throws {
    if csv, arguments.json { throw ValidationError("--csv and --json can't be combined.") }
    guard let columns = columns.map(names) else { return }
    if columns.contains("") { throw ValidationError("A column has no name.") }
    if let repeated = columns.first(where: { name in columns.count { $0 == name } > 1 }) {
      throw ValidationError("The column '\(repeated)' is repeated.")
    }
  }

  func run() throws {
    let contents = try arguments.contents()
    let line = try QueryLine(request)
    if let columns {
      try show(rows: line, columns: names(columns), of: contents)
    } else {
      try show(objects: line, of: contents)
    }
  }

  private func names(_ columns: String) -> [String] {
    columns.components(separatedBy: ",").map { $0.trimmingCharacters(in: .whitespacesAndNewlines) }
  }

  private func show(objects line: QueryLine, of contents: StoreContents) throws {
    let found = try contents.context().fetch(line.request(ManagedObjectID.self))
    if csv { return try show(table: line, of: found, in: contents) }
    var output = ObjectOutput(asJSON: arguments.json)
    try contents.forEachObject(found) { try output.write($0) }
    try output.flush()
  }

  /// Writes what the entity of the request has; subentities may have more.
  private func show(table line: QueryLine, of found: [ManagedObjectID], in contents: StoreContents) throws {
    let table = ObjectTable(DumpedProperties(try contents.model.entity(named: line.entity)))
    var output = StandardOutput()
    try output.write(table.header)
    try contents.forEachObject(found) { try output.write(table.line($0)) }
    try output.flush()
  }

  private func show(rows line: QueryLine, columns: [String], of contents: StoreContents) throws {
    let entity = try contents.model.entity(named: line.entity)
    let large = Set(columns.filter { entity.property(named: $0)?.hasLargeValues == true })
    guard !arguments.json || large.isEmpty else {
      return try show(objects: line, columns: columns, ofWhichLarge: large, of: contents)
    }
    var request = line.request(FetchedRow.self)
    request.propertiesToFetch = columns.map { ExpressionDescription($0) }
    let rows = try contents.context().fetch(request)
    var output = StandardOutput()
    if csv {
      try output.write(CSVText.line(columns))
      for row in rows {
        try output.write(CSVText.line(columns.map { row.storedValue(forKey: $0).flatMap(CSVText.text) ?? "" }))
      }
    } else if arguments.json {
      for row in rows {
        try output.writeLine { line in
          line.object { json in
            for column in columns {
              json.key(column)
              json.value(row.storedValue(forKey: column) ?? .null)
            }
          }
        }
      }
    } else {
      try write(rows, columns, to: &output)
    }
    try output.flush()
  }

  /// Writes lines of JSON. As in `dump`, a large value whose file is missing is the file's name; rows can't contain it.
  private func show(
    objects line: QueryLine, columns: [String], ofWhichLarge large: Set<String>, of contents: StoreContents
  ) throws {
    // No other column has this name, because names are trimmed.
    let identity = ExpressionDescription(" ", .current)
    var request = line.request(FetchedRow.self)
    request.propertiesToFetch = columns.filter { !large.contains($0) }.map { ExpressionDescription($0) } + [identity]
    let found = try contents.context().fetch(request).map { row in (id: row.identifier(identity.name), row: row) }
    var rows = found[...]
    var output = StandardOutput()
    try contents.forEachObject(found.compactMap { $0.id }) { object in
      // Another program may have deleted objects in the meantime.
      rows = rows.drop { $0.id?.entityName != object.entity.name || $0.id?.primaryKey != object.key }
      guard let row = rows.popFirst()?.row else { return }
      try output.writeLine { line in
        try line.object { json in
          for column in columns {
            json.key(column)
            if large.contains(column), let property = object.entity.property(named: column) {
              json.value(try object.value(of: property))
            } else {
              json.value(row.storedValue(forKey: column) ?? .null)
            }
          }
        }
      }
    }
    try output.flush()
  }

  /// Writes a table whose column widths are determined by its first rows; a longer value in a later row shifts the rest
  /// of its line.
  private func write(_ rows: [FetchedRow], _ columns: [String], to output: inout StandardOutput) throws {
    func cells(_ row: FetchedRow) -> [String] {
      columns.map { (row.storedValue(forKey: $0) ?? .null).description }
    }
    let sample = [columns] + rows.prefix(1000).map(cells)
    let widths = columns.indices.map { column in sample.map { $0[column].count }.max() ?? 0 }
    func line(_ cells: [String]) -> String {
      zip(cells, widths).enumerated().map { index, cell in
        let (text, width) = cell
        return index == cells.count - 1 ? text : text + String(repeating: " ", count: max(0, width - text.count))
      }.joined(separator: "  ") + "\n"
    }
    try output.write(line(columns))
    for row in rows { try output.write(line(cells(row))) }
  }
}

extension Property {
  /// Whether values may be in files of their own.
  fileprivate var hasLargeValues: Bool {
    attribute?.storesMarkedBytes == true || elements.contains { $0.attribute.storesMarkedBytes }
  }
}

extension FetchedRow {
  /// The identifier of an object; nil for other values.
  fileprivate func identifier(_ column: String) -> ManagedObjectID? {
    if case .objectID(let id)? = storedValue(forKey: column) { id } else { nil }
  }
}

import ArgumentParser
import Foundation
import Persist
import PersistTools
import PersistInspection

/// `persist export`: the objects of a store as files.
struct ExportCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "export", abstract: "Write a store's objects to JSON lines or CSV. Never writes to the store.",
    discussion: """
      JSON lines are in the form of 'persist dump --json'. They go to one file, or to a file for each entity if the \
      destination is a folder or ends with a slash. CSV goes to a folder, with a file for each entity, or to one file \
      with --entity. 'persist import' reads both.

      Files are complete or unchanged: each is written under another name first. Pipes and devices are written directly.
      """)

  @OptionGroup var source: ExportArguments

  @Argument(help: "The file or folder to write; '-' is standard output.")
  var destination: String

  @Flag(help: "Write comma-separated values; the default if the destination's name ends with .csv.")
  var csv = false

  @Flag(name: .customLong("json"), help: "Write JSON lines; otherwise the default.")
  var asJSON = false

  @Option(help: "Only objects of this entity, without those of its subentities.")
  var entity: String?

  func validate() throws {
    if csv, asJSON { throw ValidationError("--csv and --json can't be combined.") }
    let type = URL(fileURLWithPath: path).pathExtension.lowercased()
    if csv || (type == "csv" && !asJSON), entity == nil, !isFolder {
      throw ValidationError("A CSV file has objects of one entity: name it with --entity, or name a folder.")
    }
    if csv ? ["json", "jsonl", "ndjson"].contains(type) : asJSON && type == "csv" {
      throw ValidationError("The destination's name contradicts the format.")
    }
  }

  private var isStandardOutput: Bool { destination == "-" }
  private var path: String { isStandardOutput ? "/dev/stdout" : destination }

  /// Whether each entity has a file of its own.
  private var isFolder: Bool {
    var isFolder: ObjCBool = false
    let exists = FileManager.default.fileExists(atPath: path, isDirectory: &isFolder)
    if exists || isStandardOutput { return isFolder.boolValue }
    let isTable = URL(fileURLWithPath: path).pathExtension.lowercased() == "csv"
    return path.hasSuffix("/") || (csv && entity == nil && !isTable)
  }

  func run() throws {
    let url = try StoreArgument.file(path, "An export", fix: "'persist copy' copies a whole store to a server.")
    let contents = try source.contents()
    var entities = contents.model.entities.filter { !$0.isAbstract }.sorted { $0.name < $1.name }
    if let entity { entities = [try contents.model.entity(named: entity)] }
    let isTable = csv || (url.pathExtension.lowercased() == "csv" && !isFolder)
    let isFolder = isFolder
    if isFolder { try ExportedFile.makeFolder(url) }
    var bar = ProgressBar("exporting", besideOutput: isStandardOutput)
    defer { bar.finish() }
    let total = bar.isShown ? try entities.reduce(0) { try $0 + contents.count(of: $1) } : 0
    var progress = ExportProgress(total: total) { bar.show($0, detail: $1) }
    if isFolder {
      for entity in entities {
        let name = "\(entity.name).\(isTable ? "csv" : "jsonl")"
        try write([entity], of: contents, to: url.appendingPathComponent(name), asTable: isTable, &progress)
      }
    } else {
      try write(entities, of: contents, to: url, asTable: isTable, &progress)
    }
    bar.finish()
    let file = isStandardOutput ? "standard output" : destination
    let place = isFolder ? "\(Measure.count(entities.count, "file")) in \(destination)" : file
    StandardError.print("\(progress.done) objects in \(place)")
    for omission in try contents.omissions() { StandardError.print("persist: \(omission)") }
  }

  private func write(
    _ entities: [Entity], of contents: StoreContents, to url: URL, asTable: Bool, _ progress: inout ExportProgress
  ) throws {
    try ExportedFile.write(to: url) { file in
      for entity in entities {
        let properties = DumpedProperties(entity)
        let table = ObjectTable(properties)
        if asTable { try file.write(table.header) }
        try contents.forEachObject(of: entity) { object in
          if asTable {
            try file.write(table.line(object))
          } else {
            try file.writeLine { try $0.value(object, properties: properties) }
          }
          progress.countUp()
        }
      }
    }
  }
}

/// The arguments that name the store to export. Unlike those of other commands, `--json` chooses the format of files.
struct ExportArguments: ParsableArguments {
  @Argument(help: "The store: a file, or postgresql://USER@HOST/DATABASE?schema=NAME.")
  var store: String

  @Option(help: "A folder with models, or one model; by default the store's embedded model is used.")
  var models: String?

  @OptionGroup(title: "Encrypted stores") var key: KeyArguments

  /// Opens the store for reading, and reports differences between its tables and its model.
  func contents() throws -> StoreContents {
    let contents = try StoreContents(
      readingStoreAt: StoreArgument.url(store), registry: models.map(ModelRegistry.forStores(at:)))
    for gap in contents.gaps { StandardError.print("persist: \(gap)") }
    return contents
  }
}

/// The number of exported objects, for a progress bar.
struct ExportProgress {
  private let total: Int
  private let show: (_ fraction: Double, _ detail: String) -> Void
  private(set) var done = 0

  init(total: Int, show: @escaping (_ fraction: Double, _ detail: String) -> Void) {
    self.total = total
    self.show = show
  }

  mutating func countUp() {
    done += 1
    if done % 1000 == 0 { show(Double(done) / Double(max(total, 1)), "\(done) of \(total)") }
  }
}

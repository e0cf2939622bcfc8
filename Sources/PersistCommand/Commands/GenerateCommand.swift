import ArgumentParser
import Foundation
import Persist

/// `persist generate`: Swift classes for the entities of a model.
struct GenerateCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "generate", abstract: "Write Swift classes for a model's entities.",
    discussion: """
      Writes one file per entity, 'Item+Generated.swift', and one that lists the classes. Your own files next to them \
      are never touched; generated files of removed entities are deleted. The same model gives the same bytes.

      An entity whose Codegen is Category/Extension in Xcode gets only its properties; you write the class.
      """)

  /// The style of the generated code.
  enum Style: String, CaseIterable, ExpressibleByArgument {
    /// Computed properties over constant slots.
    case macrosless
  }

  @Argument(help: "An .xcdatamodeld, .momd, .mom or Persist model .json, or a folder with one model.")
  var model: String

  @Option(help: "The output folder; created if it doesn't exist.")
  var output: String

  @Option(help: "The style of the classes.")
  var style: Style = .macrosless

  @Option(help: "The model version; the current one by default.")
  var version: String?

  @Option(help: "The access level of the classes: public or internal.")
  var access: GenerateOptions.Access = .public

  @Option(help: "The module of the classes. The model's classes in other modules are imported.")
  var module: String?

  @Flag(help: "Skip entities whose Codegen is Manual/None.")
  var skipManual = false

  @Flag(help: "Write a single file, 'Shop+Generated.swift'.")
  var singleFile = false

  @OptionGroup var common: OutputArguments

  private var json: Bool { common.json }

  func run() throws {
    do {
      try generate()
    } catch let error as PersistenceError {
      throw UnusableModel(error: error)
    }
  }

  private func generate() throws {
    let registry = try ModelRegistry(contentsOf: ModelRegistry.url(of: model), needsCurrent: version == nil)
    let family = try registry.onlyFamily(of: model)
    let version = try version.map(registry.version(named:)) ?? family.current
    let options = GenerateOptions(
      access: access, module: module, skipsManual: skipManual, singleFile: singleFile ? family.name : nil)
    let plan = try GeneratePlan(version, of: family.name, options)
    for warning in plan.warnings { StandardError.print(warning.text) }
    let folder = GeneratedFolder(
      url: try StoreArgument.file(output, "A folder of classes", isFolder: true), model: family.name)
    try show(try folder.write(plan.files), of: plan, model: family.name, version: version.name)
  }

  private func show(
    _ changes: GeneratedFolder.Changes, of plan: GeneratePlan, model: String, version: String
  ) throws {
    guard json else {
      return try StandardOutput.print(
        "\(plan.classCount == 1 ? "1 class" : "\(plan.classCount) classes") of version '\(version)': "
          + "\(Measure.count(changes.written.count, "file")) written, "
          + "\(changes.unchanged.count) unchanged, \(changes.removed.count) removed")
    }
    try StandardOutput.print {
      $0.field("model", model)
      $0.field("version", version)
      $0.field("classes", plan.classCount)
      $0.field("written", strings: changes.written)
      $0.field("unchanged", strings: changes.unchanged)
      $0.field("removed", strings: changes.removed)
      $0.field("warnings", of: plan.warnings) { json, warning in
        json.object {
          $0.field("file", warning.file?.path)
          $0.field("line", warning.line)
          $0.field("message", warning.message)
        }
      }
    }
  }
}

extension GenerateOptions.Access: ExpressibleByArgument {}

import ArgumentParser
import Foundation
import Persist

/// `persist diff`: the differences between two model versions.
struct DiffCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "diff", abstract: "Show how two model versions differ, and what a migration would involve.",
    discussion: """
      With one model, its first version is compared with its current one; with two, the current version of each. \
      --from and --to name other versions. Exits with status 3 if --fail-on applies.
      """)

  /// The kind of difference that fails the command. Each case includes those before it.
  enum Finding: String, CaseIterable, ExpressibleByArgument {
    /// The migration is impossible.
    case impossible
    /// Values are lost.
    case loss
    /// The store has to be copied.
    case copy
    /// The versions differ at all.
    case change

    func isFound(in plan: MigrationPlan) -> Bool {
      switch self {
      case .impossible: !plan.isPossible
      case .loss: !plan.isPossible || !plan.losses.isEmpty
      case .copy: !plan.isPossible || !plan.losses.isEmpty || plan.way == .copy
      case .change: plan.way != .none || !plan.steps.isEmpty
      }
    }
  }

  @Argument(help: "A model, or a folder with models.")
  var model: String

  @Argument(help: "The model to compare with; by default the same one.")
  var other: String?

  @Option(help: "The version to compare from.")
  var from: String?

  @Option(help: "The version to compare with.")
  var to: String?

  @Option(help: "Draw the difference as an SVG picture into this file.")
  var svg: String?

  @Option(help: "Exit with status 3 if the migration is impossible, loses data, needs a copy, or if anything changes.")
  var failOn: Finding?

  @OptionGroup var common: OutputArguments

  private var json: Bool { common.json }

  func run() throws {
    let old = try ModelRegistry(contentsOf: ModelRegistry.url(of: model))
    let new = try other.map { try ModelRegistry(contentsOf: ModelRegistry.url(of: $0)) } ?? old
    let named = try from.map(old.version(named:))
    let destination = try to.map(new.version(named:)) ?? current(of: new, sameAs: named)
    let source = try named ?? first(old, destination)
    // If both versions belong to one family, the versions in between count: renames are followed through them.
    let plan = try MigrationPlan(
      from: source, to: destination, registry: old.family(of: destination) == nil ? nil : old)
    if let svg { try draw(source, to: destination, by: plan, into: StoreArgument.file(svg, "A picture")) }
    if json {
      try StandardOutput.print { $0.fields(of: plan) }
    } else {
      try StandardOutput.print(plan.description)
    }
    if failOn?.isFound(in: plan) == true { throw Failure.found }
  }

  private func draw(_ old: ModelVersion, to new: ModelVersion, by plan: MigrationPlan, into url: URL) throws {
    let picture = ModelPicture(from: old, to: new, operations: plan.steps.map(\.operation))
    try ExportedFile.write(PictureDrawing(picture).svg, to: url)
  }

  /// The current version of the family of `version`, or of the only family if there is a second model or no version.
  private func current(of registry: ModelRegistry, sameAs version: ModelVersion?) throws -> ModelVersion {
    if other == nil, let family = version.flatMap(registry.family(of:)) { return family.current }
    return try registry.onlyFamily(of: other ?? model).current
  }

  /// The oldest version of the family of `version`; if there are two models, the current version of the first.
  private func first(_ registry: ModelRegistry, _ version: ModelVersion) throws -> ModelVersion {
    guard other == nil else { return try registry.onlyFamily(of: model).current }
    return registry.family(of: version)?.versions.first ?? version
  }
}

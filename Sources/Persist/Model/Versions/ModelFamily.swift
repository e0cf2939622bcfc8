public import Foundation

/// The versions of one model: what an `.xcdatamodeld` or a `.momd` holds.
///
/// The current version is read with the family, the others when they are asked for.
public struct ModelFamily: Sendable {
  /// The model's name without a version: its folder's name without extension.
  public let name: String
  /// Where the versions were read from, where that is one place.
  public let url: URL?
  /// The version that objects are made with and stores are migrated to.
  public let current: ModelVersion
  let contents: FamilyVersions

  /// - Parameters:
  ///   - versions: at least one, in any order.
  ///   - current: the name of the current version; nil for the newest.
  public init(_ name: String, versions: [ModelVersion], current: String? = nil, url: URL? = nil) {
    self.init(
      name, FamilyVersions(versions.map { VersionFile($0) }, family: name, isOrdered: false), current: current,
      url: url)
  }

  /// - Parameter versions: from the oldest to the newest; at least one.
  init(_ name: String, ordered versions: [ModelVersion], current: String?, url: URL?) {
    self.init(
      name, FamilyVersions(versions.map { VersionFile($0) }, family: name, isOrdered: true), current: current, url: url)
  }

  /// A family whose versions are all read.
  private init(_ name: String, _ contents: FamilyVersions, current: String?, url: URL?) {
    guard let newest = contents.all.versions.last else {
      preconditionFailure("A family of models has at least one version.")
    }
    let wanted = contents.currentFile(named: current)?.name
    self.init(name, contents, current: contents.all.versions.first { $0.name == wanted } ?? newest, url: url)
  }

  /// - Parameter current: is one of `contents`.
  init(_ name: String, _ contents: FamilyVersions, current: ModelVersion, url: URL?) {
    self.name = name
    self.url = url
    self.current = current
    self.contents = contents
  }

  /// The versions that can be read, from the oldest to the newest; at least one.
  ///
  /// Files don't say their age. Numeric version identifiers do, where all versions have distinct ones. Else the version
  /// that is named like the family is the first, as Xcode makes it; the others follow in the order in which their names
  /// are numbered, and none comes before one that a mapping model leads from. No migration is refused because of this
  /// order.
  ///
  /// - Complexity: the first call reads every version.
  public var versions: [ModelVersion] { contents.all.versions }

  /// The names of all versions, readable or not, without reading them.
  public var versionNames: [String] { contents.files.map(\.name) }

  /// Why versions can't be read.
  ///
  /// - Complexity: the first call reads every version.
  public var problems: [PersistenceError] { contents.all.problems }

  /// The version of a name, or else the newest with a version identifier; nil also where it can't be read.
  public func version(named name: String) -> ModelVersion? {
    if let file = contents.files.first(where: { $0.name == name }) { return try? file.version() }
    return versions.last { $0.isCalled(name) }
  }

  /// Whether a version is one of this family, the very same.
  func contains(_ version: ModelVersion) -> Bool { contents.version(with: version.model) != nil }

  /// The versions between two of the family, in the direction from the first to the second, and whether that is
  /// certain: names can be numbered in any order.
  func versions(
    between first: ModelVersion, and second: ModelVersion
  ) -> (versions: [ModelVersion], isCertain: Bool) {
    let all = contents.all
    func place(_ version: ModelVersion) -> Int? { all.versions.firstIndex { $0.model === version.model } }
    guard let start = place(first), let end = place(second) else { return ([], false) }
    let between = all.order.between(start, end).map { all.versions[$0] }
    return (between, all.order.evidence != .names)
  }

  /// The same family, ordered by what mapping models lead from and to as well.
  func ordered(by mappingModels: [MappingModelFile]) -> ModelFamily {
    let steps = mappingModels.compactMap { step -> (from: String, to: String)? in
      guard step.familyName == nil || step.familyName == name, let source = step.sourceVersion,
        let destination = step.destinationVersion
      else { return nil }
      return (source, destination)
    }
    guard !steps.isEmpty else { return self }
    return ModelFamily(
      name, FamilyVersions(contents.files, family: name, isOrdered: false, steps: steps), current: current, url: url)
  }
}

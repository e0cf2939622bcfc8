public import Foundation

/// The versions of one model: what an `.xcdatamodeld` or a `.momd` holds.
public struct ModelFamily: Sendable {
  /// The model's name without a version: its folder's name without extension.
  public let name: String
  /// Where the versions were read from, where that is one place.
  public let url: URL?
  /// The versions from the oldest to the newest; at least one.
  ///
  /// Files don't say their age. The version that is named like the family is the first, as Xcode makes it; the others
  /// follow in the order in which their names are numbered, and none comes before one that a mapping model leads from.
  public let versions: [ModelVersion]
  private let currentIndex: Int

  /// - Parameters:
  ///   - versions: at least one, in any order.
  ///   - current: the name of the current version; nil for the newest.
  public init(_ name: String, versions: [ModelVersion], current: String? = nil, url: URL? = nil) {
    precondition(!versions.isEmpty, "A family of models has at least one version.")
    self.init(
      name,
      ordered: versions.sorted {
        ($0.name == name) != ($1.name == name) ? $0.name == name : NaturalOrder.precedes($0.name, $1.name)
      }, current: current, url: url)
  }

  init(_ name: String, ordered versions: [ModelVersion], current: String?, url: URL?) {
    self.name = name
    self.url = url
    self.versions = versions
    currentIndex = versions.firstIndex { $0.name == current } ?? versions.count - 1
  }

  /// The same family, each version behind those that mapping models lead from to it.
  func ordered(by mappingModels: [MappingModelFile]) -> ModelFamily {
    let indexes = Dictionary(versions.indices.map { (versions[$0].name, $0) }, uniquingKeysWith: { first, _ in first })
    var sources: [Int: [Int]] = [:]
    for step in mappingModels where step.familyName == nil || step.familyName == name {
      guard let source = step.sourceVersion.flatMap({ indexes[$0] }),
        let destination = step.destinationVersion.flatMap({ indexes[$0] }), source != destination
      else { continue }
      sources[destination, default: []].append(source)
    }
    // Depth first with a stack of its own. Steps that go round in a circle order nothing.
    var order: [Int] = []
    var seen: Set<Int> = []
    for start in versions.indices where seen.insert(start).inserted {
      var path = [start]
      while let index = path.last {
        if let source = sources[index]?.popLast() {
          if seen.insert(source).inserted { path.append(source) }
        } else {
          order.append(index)
          path.removeLast()
        }
      }
    }
    return ModelFamily(name, ordered: order.map { versions[$0] }, current: current.name, url: url)
  }

  /// The version that objects are made with and stores are migrated to.
  public var current: ModelVersion { versions[currentIndex] }

  /// The version of a name, or else the newest with a version identifier.
  public func version(named name: String) -> ModelVersion? {
    versions.first { $0.name == name } ?? versions.last { $0.isCalled(name) }
  }
}

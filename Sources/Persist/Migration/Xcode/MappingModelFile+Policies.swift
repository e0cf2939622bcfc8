import Foundation

extension MappingModelFile {
  /// The file's name, with the classes of its migration policies where it names any.
  var nameWithPolicies: String {
    let policies = policyNames
    return policies.isEmpty ? "'\(name)'" : "'\(name)' with \(policies.map { "'\($0)'" }.joined(separator: ", "))"
  }

  /// The classes of the policies that its entity mappings name, in name order; of a compiled file or one that can't be
  /// read none are known.
  private var policyNames: [String] {
    guard url.pathExtension == "xcmappingmodel",
      let root = try? MarkupReader.root(of: url.appendingPathComponent("xcmapping.xml"))
    else { return [] }
    let names = root.children(named: "object").flatMap { $0.children(named: "attribute") }
      .filter { $0.attributes["name"] == "migrationpolicyclassname" }
      .map { $0.text.trimmingCharacters(in: .whitespacesAndNewlines) }
    return Set(names.filter { !$0.isEmpty }).sorted()
  }
}

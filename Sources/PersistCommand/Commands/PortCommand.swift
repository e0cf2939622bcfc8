import ArgumentParser
import Foundation
import Persist
import PersistCoreDataPass
import PersistInspection

/// `persist port`: a Core Data code base off Apple's platforms.
struct PortCommand: ParsableCommand {
  static let configuration = CommandConfiguration(
    commandName: "port", abstract: "Bring a Core Data code base to platforms without Apple's framework.",
    discussion: """
      With --init, the package in FOLDER compiles its unmodified sources with the plugin PersistCoreData. With \
      --check, nothing is written; what isn't covered is listed by what to do about it. Without either, the sources \
      are edited in place and compile with the module CoreData, but no longer with Apple's.
      """)

  @Argument(help: "A folder of Swift sources; with --init, the package's folder.")
  var folder: String

  @Flag(help: "Only list what isn't covered.")
  var check = false

  @Flag(name: .customLong("init"), help: "Set the package up, leaving its sources untouched.")
  var sets = false

  @Option(help: "The package dependency that --init adds to the manifest.")
  var dependency = ".package(path: \"../persist\")"

  @OptionGroup var common: OutputArguments

  func run() throws {
    let url = URL(fileURLWithPath: folder, isDirectory: true)
    if sets { try setUp(url) }
    let passes = try SourceFolder(url).files.map { file in
      (file, CoreDataPass(try String(contentsOf: file, encoding: .utf8), file: file.path))
    }
    let changed = passes.filter { $0.1.editCount > 0 }
    if !check, !sets {
      for (file, pass) in changed { try pass.text.write(to: file, atomically: true, encoding: .utf8) }
    }
    let findings = passes.flatMap(\.1.findings)
    try show(findings, fileCount: passes.count, changedCount: changed.count)
    if check, !findings.isEmpty { throw ExitCode(3) }
  }

  private func setUp(_ url: URL) throws {
    let setup = PackageSetup(url)
    guard !setup.targets.isEmpty else {
      throw PersistenceError(
        .invalidRequest, at: .file(url), "No target in 'Sources' or 'Tests' imports CoreData.",
        fix: "Pass the folder that contains Package.swift.")
    }
    try setup.apply(dependency: dependency)
    if !common.json {
      try StandardOutput.print(
        "Package.swift: \(setup.targets.map(\.name).joined(separator: ", ")) compile with the plugin PersistCoreData")
    }
  }

  private func show(_ findings: [CoreDataPass.Finding], fileCount: Int, changedCount: Int) throws {
    guard !common.json else {
      return try StandardOutput.print {
        $0.field("files", fileCount)
        $0.field("changed", changedCount)
        $0.field("findings", of: findings) { json, finding in
          json.object {
            $0.field("file", finding.file)
            $0.field("line", finding.line)
            $0.field("message", finding.problem.message)
          }
        }
      }
    }
    let verb = check || sets ? "to change" : "changed"
    try StandardOutput.print("\(fileCount) sources, \(changedCount) \(verb), \(findings.count) places not covered")
    for problem in UncoveredPart.allCases {
      let places = findings.filter { $0.problem == problem }
      guard !places.isEmpty else { continue }
      try StandardOutput.print("\n\(problem.title): \(problem.message)")
      for place in places { try StandardOutput.print("  \(place.file):\(place.line)") }
    }
  }
}

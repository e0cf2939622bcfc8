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
      are edited in place and compile with the module CoreData, but no longer with Apple's; the classes that Xcode \
      generates from a model are written beside it.
      """)

  @Argument(help: "A folder of Swift sources; with --init, the package's folder.")
  var folder: String

  @Flag(help: "Only list what isn't covered.")
  var check = false

  @Flag(name: .customLong("init"), help: "Set the package up, leaving its sources untouched.")
  var sets = false

  @Option(help: "Persist's folder or URL for --init, or the expression of the manifest. (default: where persist is)")
  var dependency: String?

  @OptionGroup var common: OutputArguments

  func validate() throws {
    if check, sets { throw ValidationError("--check writes nothing, and --init does: pass one of them.") }
  }

  func run() throws {
    let url = URL(fileURLWithPath: folder, isDirectory: true)
    var isFolder: ObjCBool = false
    guard FileManager.default.fileExists(atPath: url.path, isDirectory: &isFolder), isFolder.boolValue else {
      throw PersistenceError(.fileAccess, at: .file(url), "There is no such folder.", fix: "Pass a folder of sources.")
    }
    if sets { try setUp(url) }
    let sources = SourceFolder(url)
    let models = try sources.models.map { try (file: Self.classesFile(of: $0), model: Self.model($0)) }
      .filter(\.model.hasGeneratedClasses)
    let texts = try sources.files.filter { file in !models.contains { $0.file.path == file.path } }
      .map { (file: $0.path, text: try String(contentsOf: $0, encoding: .utf8)) }
    let generated = models.map { (file: $0.file.path, text: GeneratedClasses($0.model).source) }
    let all = CoreDataPass.module(texts + generated)
    let passes = all.prefix(texts.count)
    let changed = passes.filter { $0.editCount > 0 }
    if !check, !sets {
      // Classes that an earlier call wrote may have been edited since.
      let new = all.dropFirst(texts.count).filter { !FileManager.default.fileExists(atPath: $0.file) }
      for pass in changed + new {
        try pass.text.write(to: URL(fileURLWithPath: pass.file), atomically: true, encoding: .utf8)
      }
    }
    let findings = passes.flatMap(\.findings)
    try show(findings, fileCount: passes.count, changedCount: changed.count)
    if check, !findings.isEmpty { throw ExitCode(3) }
  }

  /// The file that gets a model's generated classes.
  private static func classesFile(of model: URL) -> URL {
    model.deletingLastPathComponent()
      .appendingPathComponent("\(model.deletingPathExtension().lastPathComponent)+CoreDataClasses.swift")
  }

  private static func model(_ url: URL) throws -> XcodeModel {
    do {
      return try XcodeModel(contentsOf: url)
    } catch let error as XcodeModel.Unreadable {
      throw PersistenceError(
        .malformedFile, at: .file(url), "\(error)", fix: "Correct the model, or move it out of the folder.")
    }
  }

  private func setUp(_ url: URL) throws {
    guard !PackageSetup.manifests(in: url).isEmpty else {
      throw PersistenceError(
        .invalidRequest, at: .file(url), "The folder has no Package.swift.",
        fix: "Pass the package's folder. For sources without a package, create one with 'swift package init'.")
    }
    let setup = PackageSetup(url, manifest: try Self.dumpedManifest(of: url))
    guard !setup.targets.isEmpty else {
      throw PersistenceError(
        .invalidRequest, at: .file(url), "No target of the package imports CoreData.",
        fix: "Declare the folder with the sources as a target.")
    }
    let raised = setup.manifestsToRaise
    try setup.apply(dependency: dependency ?? Self.ownPackage ?? "../persist")
    if !common.json {
      for manifest in raised {
        try StandardOutput.print(
          "\(manifest): swift-tools-version is 5.6 now, because older tools have no plugins in manifests")
      }
      try StandardOutput.print(
        "Package.swift: the plugin PersistCoreData prepares \(setup.targets.map(\.name).joined(separator: ", "))")
    }
  }

  /// The folder of the package that this program was built in.
  private static var ownPackage: String? {
    guard let program = Bundle.main.executableURL?.resolvingSymlinksInPath() else { return nil }
    let parts = program.pathComponents
    guard let build = parts.lastIndex(of: ".build"), build > 1 else { return nil }
    let folder = NSString.path(withComponents: Array(parts[..<build]))
    return FileManager.default.fileExists(atPath: "\(folder)/Package.swift") ? folder : nil
  }

  /// The package as SwiftPM reads it, without the paragraph of an earlier call; nil where there is no `swift`.
  private static func dumpedManifest(of folder: URL) throws -> Data? {
    for manifest in PackageSetup.manifests(in: folder) {
      let text = try String(contentsOf: manifest, encoding: .utf8)
      guard PackageSetup.hasPart(text) else { continue }
      try PackageSetup.withoutPart(text).write(to: manifest, atomically: true, encoding: .utf8)
    }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
    process.arguments = ["swift", "package", "dump-package", "--package-path", folder.path]
    let output = Pipe()
    let errors = FileManager.default.temporaryDirectory.appendingPathComponent("persist-\(UUID().uuidString)")
    _ = FileManager.default.createFile(atPath: errors.path, contents: nil)
    defer { try? FileManager.default.removeItem(at: errors) }
    process.standardOutput = output
    process.standardError = try FileHandle(forWritingTo: errors)
    guard (try? process.run()) != nil else { return nil }
    let data = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    switch process.terminationStatus {
    case 0: return data
    case 127: return nil
    default:
      let lines = (try? String(contentsOf: errors, encoding: .utf8))?.split(separator: "\n") ?? []
      let problem =
        lines.first { $0.contains(".swift:") && $0.contains(": error: ") } ?? lines.first { $0.contains("error: ") }
        ?? lines.first ?? "no message"
      throw PersistenceError(
        .malformedFile, at: .file(folder.appendingPathComponent("Package.swift")),
        "SwiftPM can't read the manifest: \(problem)", fix: "Correct it until 'swift package dump-package' works.")
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

import Foundation
import PackagePlugin

/// Embeds the files of the studio's page in its program, as strings.
///
/// The package manager's own way is an array literal of bytes: 13 seconds and 700 MB of the compiler, for files of
/// 170 kB.
@main
struct StudioPageText: BuildToolPlugin {
  func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
    guard let target = target.sourceModule else { return [] }
    let folder = target.directoryURL.appendingPathComponent("Files", isDirectory: true)
    let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
      .sorted { $0.path < $1.path }
    let output = context.pluginWorkDirectoryURL.appendingPathComponent("PageText.swift")
    // A string of several lines doesn't contain the end of its last line: an empty one follows each file.
    let script = """
      { echo 'enum PageText {'
        echo '  static let files: [String: String] = ['
        for file; do
          printf '"%s": ####\"\"\"\\n' "${file##*/}"
          cat "$file"
          printf '\\n\"\"\"####,\\n'
        done
        echo '  ]'
        echo '}'
      } > "$0"
      """
    return [
      .buildCommand(
        displayName: "Embedding the studio's page", executable: URL(fileURLWithPath: "/bin/sh"),
        arguments: ["-ec", script, output.path] + files.map(\.path), inputFiles: files, outputFiles: [output])
    ]
  }
}

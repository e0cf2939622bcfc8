package import Foundation

/// The files of a folder of sources.
package struct SourceFolder {
  package struct Resource: Hashable {
    package let path: String
    package let isModel: Bool
  }

  package let files: [URL]
  /// The models that Xcode edits, of which classes may be generated.
  package let models: [URL]
  let resources: [Resource]

  package init(_ folder: URL) {
    var files: [URL] = []
    var models: [URL] = []
    var resources: [Resource] = []
    let walk = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: [.isDirectoryKey])
    let root = folder.standardizedFileURL.path
    while let url = walk?.nextObject() as? URL {
      let path = String(url.standardizedFileURL.path.dropFirst(root.count + 1))
      if url.lastPathComponent.hasPrefix(".") {
        walk?.skipDescendants()
      } else if ["xcdatamodeld", "xcdatamodel", "xcmappingmodel", "momd"].contains(url.pathExtension) {
        walk?.skipDescendants()
        resources.append(Resource(path: path, isModel: true))
        if url.isXcodeModel { models.append(url) }
      } else if url.pathExtension == "swift" {
        files.append(url)
      } else if !url.hasDirectoryPath {
        resources.append(Resource(path: path, isModel: false))
      }
    }
    self.files = files.sorted { $0.path < $1.path }
    self.models = models.sorted { $0.path < $1.path }
    self.resources = resources.sorted { $0.path < $1.path }
  }
}

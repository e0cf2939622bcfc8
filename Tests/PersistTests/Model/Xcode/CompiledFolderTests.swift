import Foundation
import PersistTestSupport
import Testing

@testable import Persist
@testable import PersistModel

@Suite("Compiled model folders and mapping models")
struct CompiledFolderTests {
  @Test("A folder names its versions, the current one and every entity's hash", .needsSharedData)
  func versions() throws {
    let folder = try SharedData.url("cars/Fixtures/SampleModel.momd")
    let info = try ModelVersionInfo(inFolder: folder)
    #expect(info.versions == ["SampleModel", "SampleModel2", "SampleModel3"])
    #expect(info.currentVersion == "SampleModel")
    for version in info.versions {
      let model = try XcodeModelArchive.model(at: folder.appendingPathComponent("\(version).mom")).description
      #expect(info.hashes[version]?.keys.sorted() == model.entities.map(\.name))
      #expect(info.hashes[version]?.values.allSatisfy { $0.count == 32 } == true)
    }
  }

  @Test("A mapping model contains the hashes of its source and destination versions", .needsSharedData)
  func mappingModel() throws {
    let info = try ModelVersionInfo(inFolder: SharedData.url("cars/Fixtures/SampleModel.momd"))
    let header = try CompiledMappingModel.header(at: SharedData.url("cars/Fixtures/V2toV3.cdm"))
    #expect(header.sourceHashes == info.hashes["SampleModel2"])
    #expect(header.destinationHashes == info.hashes["SampleModel3"])
  }

  @Test("A file that isn't a list of versions is refused, with its place", arguments: [
    "<true/>", "<dict/>", "<dict><key>NSManagedObjectModel_VersionHashes</key><true/></dict>",
    "<dict><key>NSManagedObjectModel_VersionHashes</key><dict><key>V</key><array/></dict></dict>",
    """
    <dict><key>NSManagedObjectModel_VersionHashes</key><dict/>
    <key>NSManagedObjectModel_CurrentVersionName</key><integer>1</integer></dict>
    """,
  ])
  func malformed(_ text: String) throws {
    let list = try PropertyList(data: Data("<plist>\(text)</plist>".utf8))
    let error = #expect(throws: PersistenceError.self) { try ModelVersionInfo(list) }
    #expect(error?.code == .malformedFile)
    #expect(error?.place.key?.hasPrefix("NSManagedObjectModel_") == true)
  }

  @Test("An archive of other objects is neither a model nor a mapping model")
  func otherArchive() throws {
    let archive = ArchiveBuilder()
    let data = try archive.data(root: archive.list([]))
    #expect(throws: PersistenceError.self) { try XcodeModelArchive.model(fromArchive: data) }
    #expect(throws: PersistenceError.self) { try CompiledMappingModel.header(fromArchive: data) }
    #expect(throws: PersistenceError.self) { try XcodeModelArchive.model(fromArchive: Data()) }
    #expect(throws: PersistenceError.self) { try XcodeModelArchive.model(fromModelCache: Data()) }
    #expect(throws: PersistenceError.self) { try XcodeModelArchive.model(fromModelCache: data) }
  }

  @Test("Compressed data that expands endlessly is refused")
  func expansion() throws {
    // One block with fixed codes: a zero, then repeatedly 258 bytes from one byte before.
    var bits: [UInt8] = [1, 1, 0, 0, 0, 1, 1, 0, 0, 0, 0]
    let match: [UInt8] = [1, 1, 0, 0, 0, 1, 0, 1, 0, 0, 0, 0, 0]
    for _ in 0...(RawDeflate.expandedLimit / 258) { bits += match }
    var data = Data(count: (bits.count + 7) / 8)
    for (index, bit) in bits.enumerated() where bit == 1 { data[index / 8] |= 1 << UInt8(index % 8) }
    let error = #expect(throws: PersistenceError.self) { try RawDeflate.expand(data, place: .unknown) }
    #expect(error?.code == .limitExceeded)
  }
}

import CoreData
@testable import CoreDataNotes
import XCTest

final class NotesTests: XCTestCase {
    var stack: CoreDataStack!
    var context: NSManagedObjectContext { stack.viewContext }

    override func setUp() {
        super.setUp()
        stack = CoreDataStack(inMemory: true)
    }

    override func tearDown() {
        stack = nil
        super.tearDown()
    }

    private func folder(_ name: String, _ titles: String...) -> Folder {
        let folder = Folder(context: context)
        folder.name = name
        for title in titles {
            folder.addToNotes(Note(title: title, body: "\(title) body", in: nil, context: context))
        }
        return folder
    }

    func testGeneratedProperties() throws {
        let note = Note(title: "Tea", body: "one two three", in: folder("Kitchen"), context: context)
        note.price = NSDecimalNumber(string: "3.50")
        note.rating = 4.5
        note.labels = ["green", "hot"]
        note.color = NoteColor(red: 1, green: 2, blue: 3)
        XCTAssertNotNil(note.createdAt)
        XCTAssertNotNil(note.id)
        XCTAssertEqual(note.wordCount, 3)
        XCTAssertFalse(note.isPinned)
        try stack.saveContext()
        context.refresh(note, mergeChanges: false)
        XCTAssertTrue(note.isFault)
        XCTAssertEqual(note.price, 3.5)
        XCTAssertEqual(note.rating?.doubleValue, 4.5)
        XCTAssertEqual(note.labels, ["green", "hot"])
        XCTAssertEqual(note.color, NoteColor(red: 1, green: 2, blue: 3))
        XCTAssertEqual(note.folder?.path, "Kitchen")
        XCTAssertGreaterThan(note.editedAt, 0)
    }

    func testGeneratedAccessors() throws {
        let root = folder("Root")
        let (a, b, c) = (folder("a"), folder("b"), folder("c"))
        root.addToChildren(a)
        root.addToChildren([b, c] as NSOrderedSet)
        root.insertIntoChildren(folder("first"), at: 0)
        XCTAssertEqual(root.children?.compactMap { ($0 as? Folder)?.name }, ["first", "a", "b", "c"])
        root.removeFromChildren(at: 0)
        root.replaceChildren(at: 0, with: folder("z"))
        XCTAssertEqual(root.children?.compactMap { ($0 as? Folder)?.name }, ["z", "b", "c"])
        root.removeFromChildren(b)
        XCTAssertEqual(b.parent, nil)
        root.toggleOrder()
        XCTAssertEqual(root.children?.compactMap { ($0 as? Folder)?.name }, ["c", "z"])
        XCTAssertEqual(c.path, "Root/c")
        let notes = folder("Notes", "x", "y")
        XCTAssertEqual(notes.notes?.count, 2)
        notes.removeFromNotes(NSSet(array: notes.notes?.allObjects ?? []))
        XCTAssertEqual(notes.notes?.count, 0)
    }

    func testInheritedAttachments() throws {
        let note = Note(title: "With files", in: nil, context: context)
        let attachment = Attachment(context: context)
        attachment.title = "photo"
        attachment.payload = Data(repeating: 7, count: 10)
        attachment.source = URL(string: "https://example.com/photo")
        note.addToAttachments(attachment)
        XCTAssertNotNil(attachment.id)
        try stack.saveContext()
        let items: NSFetchRequest<Item> = Item.fetchRequest()
        XCTAssertEqual(try context.fetch(items).count, 2)
        let attachments: NSFetchRequest<Attachment> = Attachment.fetchRequest()
        XCTAssertEqual(try context.count(for: attachments), 1)
        let before = Attachment.deleted
        context.delete(note)
        try context.save()
        XCTAssertEqual(Attachment.deleted, before + 1)
        XCTAssertEqual(try context.count(for: attachments), 0)
    }

    func testValidationMethod() throws {
        let attachment = Attachment(context: context)
        attachment.source = URL(string: "ftp://example.com/photo")
        XCTAssertThrowsError(try stack.saveContext()) { error in
            XCTAssertEqual((error as NSError).domain, "NotesErrorDomain")
            XCTAssertEqual((error as NSError).code, 7)
        }
        XCTAssertFalse(context.hasChanges)
    }

    func testFetchedProperty() throws {
        let kitchen = folder("Kitchen", "Tea", "Salt")
        (kitchen.notes?.anyObject() as? Note)?.isPinned = true
        try stack.saveContext()
        XCTAssertEqual(kitchen.pinned?.count, 1)
    }

    func testSearch() throws {
        _ = folder("Kitchen", "tea", "Salt", "Teapot")
        try stack.saveContext()
        XCTAssertEqual(try context.fetch(Note.matching("TEA")).map(\.title), ["tea", "Teapot"])
    }

    func testFindOrCreate() throws {
        let one = try Folder.root(named: "Inbox", in: context)
        XCTAssertTrue(try Folder.root(named: "Inbox", in: context) === one)
    }

    func testUndo() throws {
        let kitchen = folder("Kitchen")
        try stack.saveContext()
        context.undoManager?.removeAllActions()
        kitchen.name = "Cellar"
        context.processPendingChanges()
        context.undoManager?.undo()
        XCTAssertEqual(kitchen.name, "Kitchen")
        XCTAssertTrue(context.undoManager?.canRedo == true)
        context.undoManager?.redo()
        XCTAssertEqual(kitchen.name, "Cellar")
    }

    func testEditingInChildContext() throws {
        let kitchen = folder("Kitchen", "Tea")
        try stack.saveContext()
        let child = stack.newChildContext()
        let same = try XCTUnwrap(child.object(with: kitchen.objectID) as? Folder)
        same.name = "Cellar"
        XCTAssertEqual(kitchen.name, "Kitchen")
        try child.save()
        XCTAssertEqual(kitchen.name, "Cellar")
        XCTAssertTrue(context.hasChanges)
    }

    func testList() throws {
        let list = NoteListController(context: context)
        list.load()
        XCTAssertEqual(list.numberOfSections, 0)
        let kitchen = folder("Kitchen", "Tea")
        context.processPendingChanges()
        XCTAssertEqual(list.log, ["begin", "+section 0 Kitchen", "+0.0", "end"])
        kitchen.addToNotes(Note(title: "Salt", in: nil, context: context))
        _ = folder("Garden", "Rose")
        try stack.saveContext()
        XCTAssertEqual(list.numberOfSections, 2)
        XCTAssertEqual(list.title(ofSection: 0), "Garden")
        XCTAssertEqual(list.numberOfRows(inSection: 1), 2)
        XCTAssertEqual(list.note(at: IndexPath(item: 0, section: 1)).title, "Salt")
        try list.delete(at: IndexPath(item: 0, section: 0))
        XCTAssertEqual(list.numberOfSections, 1)
    }

    func testAsynchronousMerge() {
        _ = stack.viewContext
        let expectation = expectation(forNotification: .NSManagedObjectContextDidSave, object: nil)
        stack.persistentContainer.performBackgroundTask { context in
            let folder = Folder(context: context)
            folder.name = "Background"
            do {
                try context.save()
            } catch {
                XCTFail("\(error)")
            }
        }
        wait(for: [expectation], timeout: 600)
        XCTAssertEqual(try context.count(for: Folder.fetchRequest() as NSFetchRequest<Folder>), 1)
    }
}

//! An allocator that counts, for the thread that asks, and apart from that for processes which only borrow this memory.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::sync::atomic::{AtomicI32, AtomicU64, Ordering};

pub struct Counting;

thread_local! {
    /// Without a destructor and without lazy initialisation, so that it can be used inside the allocator.
    static MINE: Cell<u64> = const { Cell::new(0) };
}

/// The process whose threads are counted; 0 before it is set.
static HOME: AtomicI32 = AtomicI32::new(0);
/// Calls made under another pid, in this very memory.
static BORROWED: AtomicU64 = AtomicU64::new(0);

impl Counting {
    fn note(&self) {
        let home = HOME.load(Ordering::Relaxed);
        // SAFETY: no arguments; glibc asks the kernel each time, so a child that shares our memory has its own answer.
        if home != 0 && unsafe { libc::getpid() } != home {
            BORROWED.fetch_add(1, Ordering::Relaxed);
        } else {
            MINE.with(|count| count.set(count.get() + 1));
        }
    }
}

// SAFETY: forwards to the system's allocator and touches nothing of its results.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        self.note();
        // SAFETY: forwarded.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        self.note();
        // SAFETY: forwarded.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        self.note();
        // SAFETY: forwarded.
        unsafe { System.realloc(pointer, layout, size) }
    }
}

/// What this thread asks of the allocator while `deed` runs. Other threads (ours, the library's) do not count.
pub fn calls_of_this_thread<T>(deed: impl FnOnce() -> T) -> (u64, T) {
    let before = MINE.with(Cell::get);
    let result = deed();
    (MINE.with(Cell::get) - before, result)
}

/// From now on this process is told from those that only borrow its memory.
pub fn this_is_home() {
    HOME.store(std::process::id() as i32, Ordering::Relaxed);
}

/// Calls made so far by processes that borrow this memory.
pub fn borrowed_calls() -> u64 {
    BORROWED.load(Ordering::Relaxed)
}

#include "jit/emulator/cta.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "absl/strings/str_cat.h"
#include "absl/strings/str_format.h"
#include "vm/base/check.h"

namespace trivet::jit {

namespace {

thread_local Cta* current_cta = nullptr;

std::string At(absl::string_view what, absl::string_view location) {
  return location.empty() ? std::string(what) : absl::StrCat(what, " at ", location);
}

const char* PastTense(SharedAccess access) {
  switch (access) {
    case SharedAccess::kLoad:
    case SharedAccess::kAtomicLoad:
      return "read";
    case SharedAccess::kStore:
      return "wrote";
    case SharedAccess::kAtomic:
      return "changed atomically";
    case SharedAccess::kAsyncCopy:
      return "copies to asynchronously";
  }
  return "";
}

const char* PresentTense(SharedAccess access) {
  switch (access) {
    case SharedAccess::kLoad:
    case SharedAccess::kAtomicLoad:
      return "reads";
    case SharedAccess::kStore:
      return "writes";
    case SharedAccess::kAtomic:
      return "changes atomically";
    case SharedAccess::kAsyncCopy:
      return "copies asynchronously to";
  }
  return "";
}

const char* Noun(SharedAccess access) {
  switch (access) {
    case SharedAccess::kLoad:
    case SharedAccess::kAtomicLoad:
      return "load";
    case SharedAccess::kStore:
      return "store";
    case SharedAccess::kAtomic:
      return "atomic";
    case SharedAccess::kAsyncCopy:
      return "cp.async";
  }
  return "";
}

}  // namespace

std::string Describe(const CallSite& site) { return At(site.name, site.location); }

Cta::Cta(const Program& program, const EmulatedLaunch& launch, FiberStacks& stacks)
    : program_(program),
      launch_(launch),
      shared_(program.shared_address, program.shared_bytes, launch.num_threads, launch.check_races),
      stacks_(stacks),
      allocations_(launch.allocations),
      threads_(static_cast<size_t>(launch.num_threads)),
      random_state_(launch.seed) {
  std::sort(allocations_.begin(), allocations_.end(),
            [](const MemoryRange& a, const MemoryRange& b) { return a.address < b.address; });
}

Cta& Cta::Current() { return *current_cta; }

// --- Scheduling -------------------------------------------------------------------------------------------------

absl::Status Cta::Run(std::array<int, 3> id) {
  program_id_ = id;
  shared_.Reset();
  for (BarrierState& barrier : barriers_) barrier = BarrierState{};
  ready_warps_ = 0;
  ready_lanes_.fill(0);
  yielded_.clear();
  synchronisations_ = 0;
  *program_.iterations = launch_.max_loop_iterations;
  num_alive_ = launch_.num_threads;
  for (int thread = 0; thread < launch_.num_threads; ++thread) {
    Thread& self = threads_[static_cast<size_t>(thread)];
    self.copies.clear();
    self.committed_copies.clear();
    self.call = nullptr;
    self.fiber.Prepare(stacks_.stack(thread), FiberStacks::kStackBytes, RunThread, this);
    MakeReady(thread);
  }
  Cta* outer = current_cta;
  current_cta = this;
  while (num_alive_ > 0 && status_.ok()) {
    const int next = PickThread();
    if (next < 0) {
      status_ = Deadlock();
      break;
    }
    running_ = next;
    Fiber::Switch(scheduler_, threads_[static_cast<size_t>(next)].fiber);
  }
  current_cta = outer;
  return status_;
}

// Runs on the thread's own stack. Its argument is the Cta; which thread it is, it learns from being the one that runs.
void Cta::RunThread(void* cta) {
  Cta& self = *static_cast<Cta*>(cta);
  self.program_.entry(self.launch_.arguments.data());
  self.Exit();
}

void Cta::Exit() {
  --num_alive_;
  Block(State::kExited);
}

void Cta::Block(State state) {
  Thread& self = threads_[static_cast<size_t>(running_)];
  self.state = state;
  if (++synchronisations_ > launch_.max_synchronisations && status_.ok()) {
    status_ = absl::DeadlineExceededError(absl::StrFormat(
        "program (%d, %d, %d) did not end within %d synchronisations; %s %s", program_id_[0], program_id_[1],
        program_id_[2], launch_.max_synchronisations, Name(running_), Whereabouts(running_)));
  }
  Fiber::Switch(self.fiber, scheduler_);
}

void Cta::LeaveIfFailed() {
  if (failed()) Fiber::Switch(threads_[static_cast<size_t>(running_)].fiber, scheduler_);
}

void Cta::MakeReady(int thread) {
  threads_[static_cast<size_t>(thread)].state = State::kReady;
  ready_lanes_[static_cast<size_t>(thread / 32)] |= uint32_t{1} << (thread % 32);
  ready_warps_ |= uint32_t{1} << (thread / 32);
}

void Cta::Yield() {
  yielded_.push_back(running_);
  Block(State::kYielded);
}

uint64_t Cta::Random() {
  // SplitMix64 (Steele, Lea and Flood 2014).
  uint64_t z = (random_state_ += 0x9e3779b97f4a7c15u);
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

int Cta::PickThread() {
  if (ready_warps_ == 0 && !ResolveConverged()) {
    // Who waits in a loop for memory to change runs when nobody else can.
    for (const int thread : yielded_) MakeReady(thread);
    yielded_.clear();
  }
  if (ready_warps_ == 0) return -1;
  const auto pick = [this](uint32_t set) {
    if (launch_.seed == 0) return std::countr_zero(set);
    for (uint64_t skip = Random() % static_cast<uint64_t>(std::popcount(set)); skip > 0; --skip) set &= set - 1;
    return std::countr_zero(set);
  };
  const int warp = pick(ready_warps_);
  uint32_t& lanes = ready_lanes_[static_cast<size_t>(warp)];
  const int lane = pick(lanes);
  lanes &= ~(uint32_t{1} << lane);
  if (lanes == 0) ready_warps_ &= ~(uint32_t{1} << warp);
  return warp * 32 + lane;
}

// --- Waiting ----------------------------------------------------------------------------------------------------

void Cta::WarpOperation(const Call& call, uint32_t mask, void (*compute)(const WarpCall&)) {
  Thread& self = threads_[static_cast<size_t>(running_)];
  if (((mask >> lane()) & 1) == 0) {
    return Fail(absl::StatusCode::kAborted, call.site,
                absl::StrFormat("its mask 0x%08x leaves out the lane itself", mask));
  }
  self.call = &call;
  self.mask = mask;
  WarpCall all = {*this, call.site, mask, {}};
  const int first = warp() * 32;
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int other_lane = std::countr_zero(lanes);
    const Thread& other = threads_[static_cast<size_t>(first + other_lane)];
    const bool came =
        &other == &self || (other.state == State::kWarp && other.mask == mask && &other.call->site == &call.site);
    if (!came) return Block(State::kWarp);
    all.calls[static_cast<size_t>(other_lane)] = other.call;
  }
  ++synchronisations_;
  compute(all);
  for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
    const int other = first + std::countr_zero(lanes);
    if (other != running_) MakeReady(other);
  }
  // The last to come must not run on before the others, or one order would never be seen.
  if (!failed()) {
    MakeReady(running_);
    Block(State::kReady);
  }
}

void Cta::ConvergedOperation(const Call& call, void (*compute)(const WarpCall&)) {
  threads_[static_cast<size_t>(running_)].call = &call;
  Block(State::kConverged);
  // The first lane that runs again works for all; ResolveConverged left their set in `mask`.
  Thread& self = threads_[static_cast<size_t>(running_)];
  const int first = warp() * 32;
  if (std::countr_zero(self.mask) != lane()) return;
  WarpCall all = {*this, call.site, self.mask, {}};
  for (uint32_t lanes = self.mask; lanes != 0; lanes &= lanes - 1) {
    const int other = std::countr_zero(lanes);
    all.calls[static_cast<size_t>(other)] = threads_[static_cast<size_t>(first + other)].call;
  }
  compute(all);
  for (uint32_t lanes = self.mask & (self.mask - 1); lanes != 0; lanes &= lanes - 1) {
    MakeReady(first + std::countr_zero(lanes));
  }
}

bool Cta::ResolveConverged() {
  for (int first = 0; first < launch_.num_threads; first += 32) {
    uint32_t mask = 0;
    const CallSite* site = nullptr;
    for (int lane = 0; lane < 32; ++lane) {
      const Thread& thread = threads_[static_cast<size_t>(first + lane)];
      if (thread.state != State::kConverged || (site != nullptr && site != &thread.call->site)) continue;
      site = &thread.call->site;
      mask |= uint32_t{1} << lane;
    }
    if (mask == 0) continue;
    for (uint32_t lanes = mask; lanes != 0; lanes &= lanes - 1) {
      threads_[static_cast<size_t>(first + std::countr_zero(lanes))].mask = mask;
    }
    MakeReady(first + std::countr_zero(mask));
    return true;
  }
  return false;
}

void Cta::Barrier(const Call& call, int id, int count, bool waits, bool aligned, BarrierFinish finish) {
  if (id < 0 || id > 15) {
    return Fail(absl::StatusCode::kInvalidArgument, call.site,
                absl::StrCat("there is no barrier ", id, ", only 0 to 15"));
  }
  if (count <= 0 || count % 32 != 0 || count > launch_.num_threads) {
    return Fail(absl::StatusCode::kInvalidArgument, call.site,
                absl::StrCat("a barrier for ", count, " threads; it takes a multiple of 32, here at most ",
                             launch_.num_threads));
  }
  BarrierState& barrier = barriers_[static_cast<size_t>(id)];
  if (barrier.expected != 0 && barrier.expected != count) {
    return Fail(absl::StatusCode::kAborted, call.site,
                absl::StrFormat("barrier %d is for %d threads here, for %d where %s came", id, count, barrier.expected,
                                Name(barrier.arrived[0])));
  }
  if (aligned) {
    for (const int other : barrier.waiting) {
      const Call* other_call = threads_[static_cast<size_t>(other)].call;
      if (other / 32 != warp() || &other_call->site == &call.site) continue;
      return Fail(absl::StatusCode::kAborted, call.site,
                  absl::StrFormat("an aligned barrier needs all lanes of a warp at one instruction, and %s waits in %s",
                                  Name(other), Describe(other_call->site)));
    }
  }
  barrier.expected = count;
  barrier.arrived.push_back(running_);
  Thread& self = threads_[static_cast<size_t>(running_)];
  self.call = &call;
  self.barrier = id;
  if (waits) barrier.waiting.push_back(running_);
  if (static_cast<int>(barrier.arrived.size()) < count) {
    if (waits) Block(State::kBarrier);
    return;
  }
  ++synchronisations_;
  uint32_t warps = 0;
  for (const int thread : barrier.arrived) warps |= uint32_t{1} << (thread / 32);
  shared_.OrderWarps(warps);
  if (finish != nullptr) {
    std::vector<const Call*> calls;
    for (const int thread : barrier.waiting) calls.push_back(threads_[static_cast<size_t>(thread)].call);
    finish(calls);
  }
  for (const int thread : barrier.waiting) {
    if (thread != running_) MakeReady(thread);
  }
  barrier.expected = 0;
  barrier.arrived.clear();
  barrier.waiting.clear();
  if (waits) {
    MakeReady(running_);
    Block(State::kReady);
  }
}

// --- Errors -----------------------------------------------------------------------------------------------------

std::string Cta::Name(int thread) const {
  return absl::StrFormat("thread %d (warp %d, lane %d)", thread, thread / 32, thread % 32);
}

std::string Cta::Whereabouts(int thread) const {
  const Thread& self = threads_[static_cast<size_t>(thread)];
  switch (self.state) {
    case State::kReady:
    case State::kYielded:
      return "runs";
    case State::kWarp:
      return absl::StrFormat("waits in %s with mask 0x%08x", Describe(self.call->site), self.mask);
    case State::kConverged:
      return absl::StrCat("waits in ", Describe(self.call->site));
    case State::kBarrier:
      return absl::StrCat("waits in ", Describe(self.call->site), " at barrier ", self.barrier);
    case State::kExited:
      return "has exited";
  }
  return "";
}

absl::Status Cta::Deadlock() const {
  const std::string program =
      absl::StrFormat(" of program (%d, %d, %d) ", program_id_[0], program_id_[1], program_id_[2]);
  // A warp that is stuck is the cause, a barrier that it never reaches the consequence.
  for (int thread = 0; thread < launch_.num_threads; ++thread) {
    const Thread& self = threads_[static_cast<size_t>(thread)];
    if (self.state != State::kWarp) continue;
    for (uint32_t lanes = self.mask; lanes != 0; lanes &= lanes - 1) {
      const int other = thread / 32 * 32 + std::countr_zero(lanes);
      const Thread& missing = threads_[static_cast<size_t>(other)];
      if (missing.state == State::kWarp && missing.mask == self.mask && &missing.call->site == &self.call->site) {
        continue;
      }
      return absl::AbortedError(absl::StrCat(Name(thread), program, Whereabouts(thread), " for ", Name(other),
                                             ", which ", Whereabouts(other)));
    }
  }
  for (const BarrierState& barrier : barriers_) {
    if (barrier.waiting.empty()) continue;
    const int thread = barrier.waiting[0];
    for (int other = 0; other < launch_.num_threads; ++other) {
      if (std::find(barrier.arrived.begin(), barrier.arrived.end(), other) != barrier.arrived.end()) continue;
      return absl::AbortedError(absl::StrCat(Name(thread), program, Whereabouts(thread), " for ", barrier.expected,
                                             " threads, of which ", barrier.arrived.size(), " came; ", Name(other), " ",
                                             Whereabouts(other)));
    }
  }
  return absl::InternalError("emulator: no thread can run, and none says why");
}

void Cta::Fail(absl::StatusCode code, const CallSite& site, absl::string_view message, int thread) {
  FailAt(code, site.name, site.location, thread < 0 ? running_ : thread, message);
}

void Cta::FailAt(absl::StatusCode code, absl::string_view what, absl::string_view location, int thread,
                 absl::string_view message) {
  if (failed()) return;
  status_ = absl::Status(code, absl::StrFormat("%s by %s of program (%d, %d, %d): %s", At(what, location), Name(thread),
                                               program_id_[0], program_id_[1], program_id_[2], message));
}

void Cta::FailRace(absl::string_view what, absl::string_view location, int thread, const SharedMemory::Race& race) {
  const bool in_flight = race.before == SharedAccess::kAsyncCopy && race.now != SharedAccess::kAsyncCopy;
  FailAt(absl::StatusCode::kAborted, what, location, thread,
         absl::StrFormat("race: it %s byte %d of shared memory, which %s %s %s", PresentTense(race.now), race.offset,
                         race.other == thread ? "itself" : Name(race.other), PastTense(race.before),
                         in_flight ? "without a wait and a barrier between" : "without a barrier between"));
}

void Cta::OutOfIterations(absl::string_view location) {
  FailAt(absl::StatusCode::kDeadlineExceeded, "loop", location, running_,
         absl::StrCat("the program ran through more than ", launch_.max_loop_iterations, " loop iterations"));
  LeaveIfFailed();
}

// --- Memory -----------------------------------------------------------------------------------------------------

bool Cta::IsAllocated(uint64_t address, int64_t bytes) const {
  auto after = std::upper_bound(allocations_.begin(), allocations_.end(), address,
                                [](uint64_t value, const MemoryRange& range) { return value < range.address; });
  if (after == allocations_.begin()) return false;
  const MemoryRange& range = *--after;
  return address - range.address + static_cast<uint64_t>(bytes) <= static_cast<uint64_t>(range.size_bytes);
}

bool Cta::CheckMemory(const Access& access, const void* value) {
  const auto fail = [&](absl::StatusCode code, absl::string_view message) {
    FailAt(code, access.what, access.location, access.thread,
           absl::StrFormat("it %s %d bytes at 0x%x, which %s", PresentTense(access.access), access.bytes,
                           access.address, message));
    return false;
  };
  if (access.address % static_cast<uint64_t>(access.alignment) != 0) {
    return fail(absl::StatusCode::kInvalidArgument, absl::StrCat("is no multiple of ", access.alignment));
  }
  if (shared_.Contains(access.address, access.bytes)) {
    if (const auto race = shared_.Access(access.thread, access.access, access.address, access.bytes, value)) {
      FailRace(access.what, access.location, access.thread, *race);
      return false;
    }
    return true;
  }
  if (allocations_.empty() || IsAllocated(access.address, access.bytes)) return true;
  return fail(absl::StatusCode::kOutOfRange, "is in no allocation of the launch");
}

bool Cta::CheckAccess(const CallSite& site, int thread, SharedAccess access, uint64_t address, int64_t bytes,
                      const void* value) {
  return CheckMemory({site.name, site.location, thread, access, address, bytes, bytes}, value);
}

void Cta::CheckShared(const AccessSite& site, uint64_t address, const void* value) {
  if (!shared_.Contains(address, site.bytes)) {
    FailAt(
        absl::StatusCode::kOutOfRange, Noun(site.access), site.location, running_,
        absl::StrFormat("it %s %d bytes at offset %d of shared memory, which has %d bytes", PresentTense(site.access),
                        site.bytes, static_cast<int64_t>(address - shared_.address()), shared_.size_bytes()));
  } else {
    CheckMemory({Noun(site.access), site.location, running_, site.access, address, site.bytes, site.alignment}, value);
  }
  LeaveIfFailed();
}

void Cta::CheckGlobal(const AccessSite& site, uint64_t address) {
  CheckMemory({Noun(site.access), site.location, running_, site.access, address, site.bytes, site.alignment}, nullptr);
  LeaveIfFailed();
}

void Cta::StartCopy(const CallSite& site, const Copy& copy) {
  if (!shared_.Contains(copy.destination, copy.bytes)) {
    return Fail(absl::StatusCode::kOutOfRange, site,
                absl::StrFormat("it copies %d bytes to offset %d of shared memory, which has %d bytes", copy.bytes,
                                static_cast<int64_t>(copy.destination - shared_.address()), shared_.size_bytes()));
  }
  if (copy.destination % static_cast<uint64_t>(copy.bytes) != 0) {
    return Fail(absl::StatusCode::kInvalidArgument, site,
                absl::StrFormat("it copies %d bytes to 0x%x, which is no multiple", copy.bytes, copy.destination));
  }
  if (const auto race = shared_.StartCopy(running_, copy.destination, copy.bytes)) {
    return FailRace(site.name, site.location, running_, *race);
  }
  if (copy.source_bytes > 0 && !CheckMemory({site.name, site.location, running_, SharedAccess::kLoad, copy.source,
                                             copy.source_bytes, copy.bytes},
                                            nullptr)) {
    return;
  }
  threads_[static_cast<size_t>(running_)].copies.push_back(copy);
}

void Cta::CommitCopies() {
  Thread& self = threads_[static_cast<size_t>(running_)];
  int committed = 0;
  for (const int size : self.committed_copies) committed += size;
  self.committed_copies.push_back(static_cast<int>(self.copies.size()) - committed);
}

void Cta::WaitForCopies(const CallSite& site, int pending) {
  Thread& self = threads_[static_cast<size_t>(running_)];
  const int groups = std::max(0, static_cast<int>(self.committed_copies.size()) - std::max(pending, 0));
  size_t complete = 0;
  for (int group = 0; group < groups; ++group) {
    complete += static_cast<size_t>(self.committed_copies[static_cast<size_t>(group)]);
  }
  self.committed_copies.erase(self.committed_copies.begin(), self.committed_copies.begin() + groups);
  if (pending < 0) complete = self.copies.size();
  for (size_t i = 0; i < complete; ++i) {
    const Copy& copy = self.copies[i];
    if (const auto race = shared_.FinishCopy(running_, copy.destination, copy.bytes)) {
      return FailRace(site.name, site.location, running_, *race);
    }
    auto* destination = reinterpret_cast<char*>(copy.destination);
    std::memcpy(destination, reinterpret_cast<const void*>(copy.source), static_cast<size_t>(copy.source_bytes));
    std::memset(destination + copy.source_bytes, 0, static_cast<size_t>(copy.bytes - copy.source_bytes));
  }
  self.copies.erase(self.copies.begin(), self.copies.begin() + static_cast<std::ptrdiff_t>(complete));
}

}  // namespace trivet::jit

#include "jit/runtime/build_id.h"

#include <elf.h>
#include <link.h>
#include <sys/stat.h>

#include <cstdint>
#include <cstring>

#include "absl/strings/escaping.h"
#include "absl/strings/str_cat.h"
#include "absl/strings/string_view.h"

namespace trivet::jit {
namespace {

uint64_t PadTo4(uint64_t size) { return (size + 3) & ~uint64_t{3}; }

// The build id among the notes of one PT_NOTE segment, or empty.
std::string FindInNotes(const char* notes, uint64_t size) {
  while (size >= sizeof(ElfW(Nhdr))) {
    ElfW(Nhdr) header;
    std::memcpy(&header, notes, sizeof header);
    const uint64_t used = sizeof header + PadTo4(header.n_namesz) + PadTo4(header.n_descsz);
    if (used > size) break;
    const char* name = notes + sizeof header;
    if (header.n_type == NT_GNU_BUILD_ID && absl::string_view(name, header.n_namesz) == absl::string_view("GNU", 4)) {
      return absl::BytesToHexString({name + PadTo4(header.n_namesz), header.n_descsz});
    }
    notes += used;
    size -= used;
  }
  return "";
}

struct Search {
  uintptr_t address;  // in the object that is wanted
  std::string result;
};

// Called with each loaded object; ends the search at ours.
int Visit(dl_phdr_info* info, size_t, void* data) {
  auto& search = *static_cast<Search*>(data);
  const auto begin_of = [&](const ElfW(Phdr) & segment) { return info->dlpi_addr + segment.p_vaddr; };
  bool is_ours = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    is_ours |= segment.p_type == PT_LOAD && search.address >= begin_of(segment) &&
               search.address < begin_of(segment) + segment.p_memsz;
  }
  if (!is_ours) return 0;
  for (int i = 0; i < info->dlpi_phnum && search.result.empty(); ++i) {
    const ElfW(Phdr)& segment = info->dlpi_phdr[i];
    if (segment.p_type != PT_NOTE) continue;
    search.result = FindInNotes(reinterpret_cast<const char*>(begin_of(segment)), segment.p_memsz);
  }
  if (search.result.empty()) {
    const char* path = *info->dlpi_name != '\0' ? info->dlpi_name : "/proc/self/exe";
    struct stat status;
    if (stat(path, &status) == 0) {
      search.result = absl::StrCat(status.st_size, "-", status.st_mtim.tv_sec, ".", status.st_mtim.tv_nsec);
    }
  }
  return 1;
}

}  // namespace

const std::string& BuildId() {
  static const std::string& id = *new std::string([] {
    Search search{reinterpret_cast<uintptr_t>(&BuildId), ""};
    dl_iterate_phdr(&Visit, &search);
    return search.result;
  }());
  return id;
}

}  // namespace trivet::jit

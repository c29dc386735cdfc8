#include "web/request.h"

int main(int argc, char **argv) {
    return serve(&this_service, argc, argv);
}
